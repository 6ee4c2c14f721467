const track = (title, mean) => {
  const bar = element("i", `tier-${tierOf(mean)}`);
  bar.style.width = `${20 * mean}%`;
  return element("li", "", element("span", "", title), element("span", "track", bar), element("b", "", score(mean)));
};
const grade = (tool) => (tool.label === undefined ? chip(tool.tdqs) : element("span", "chip tier-none", tool.label || "no label"));
const toolEntry = (tool, shared) => {
  const fix = tool.fix ?? shared.find((each) => each.tools.includes(tool.name));
  const advice = tool.ungraded || fix?.suggestion || fix?.message;
  return element("li", "",
    element("h3", "", grade(tool), element("span", "name", plain(tool.name))),
    tool.weakest ? element("p", "dim", `weakest: ${tool.weakest.replaceAll("_", " ")}`) : null,
    advice ? element("p", "fix", plain(advice), fix ? [" ", element("code", "", fix.rule)] : "") : null);
};
const overall = (answer) => {
  if (answer.labels) return Object.entries(answer.labels).map(([label, tools]) => `${tools} ${label}`).join(", ");
  if (typeof answer.overallScore !== "number") return "no score";
  return [score(answer.overallScore), element("span", "letter", answer.overallTier)];
};

function show(answer, more) {
  const known = answer.percentiles, isScored = typeof answer.overallScore === "number";
  const facts = [count(answer.toolCount, "tool"), `${answer.labels ? plain(answer.rubric) : `TDQS ${plain(answer.specVersion)}`} by ${plain(answer.judge.id)}`];
  if (known) facts.push(`better than ${known.overallScore}% of ${known.servers.toLocaleString("en")} known servers`);
  const shown = answer.tools.length < answer.total ? ` (${answer.tools.length} of ${answer.total})` : "";
  return [
    element("header", "head",
      element("p", `big tier-${isScored ? answer.overallTier : "none"}`, overall(answer)),
      element("div", "",
        element("h1", "", plain(answer.server)),
        element("p", "dim", facts.join(" · ")),
        isScored ? element("p", "formula",
          `70% × ${score(answer.descriptionQualityScore)} descriptions + 30% × ${score(answer.coherenceScore)} coherence`) : null)),
    list("findings", answer.problems.map((each) => element("li", "finding warning", plain(each)))),
    ...section("Dimensions", more && list("means", more.means.map((each) => track(each.title, each.mean)))),
    ...section(`What helps most first${shown}`, list("entries", answer.tools.map((tool) => toolEntry(tool, answer.sharedFixes ?? [])))),
  ].filter(Boolean);
}
