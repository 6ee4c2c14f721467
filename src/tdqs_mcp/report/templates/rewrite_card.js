const KINDS = { "-": "del", "+": "ins", "": "span" };
const parsed = (text) => {
  try {
    const value = JSON.parse(plain(text));
    return typeof value === "string" ? value : JSON.stringify(value);
  } catch {
    return `${text}`;
  }
};
const marked = (runs) => runs.flatMap(([kind, text]) => [element(KINDS[kind], "", text), " "]);
const changeEntry = (change) => [
  element("p", "", element("code", "", plain(change.path).slice(1) || "definition")),
  element("p", "words", change.runs ? marked(change.runs) : element("ins", "", parsed(change.new))),
  change.sources?.length ? element("p", "dim", `Rests on: ${change.sources.join("; ")}`) : null,
];
const caution = (text) => element("p", "finding warning", text);
const changesOf = (tool, more) => more || tool.changes || [];
const toolEntry = (tool, more) => element("li", "",
  element("h3", "", element("span", "name", plain(tool.name)), chip(tool.tdqs), "→", chip(tool.becomes),
    element("span", "dim", `${tool.tokensAdded > 0 ? "+" : ""}${count(tool.tokensAdded, "token")}`)),
  changesOf(tool, more).length ? changesOf(tool, more).map(changeEntry) : element("p", "dim", "Nothing changes."),
  tool.setback ? caution(`The writer's text was not used: ${plain(tool.setback)}`) : null,
  (tool.refused || []).map((each) => caution(`Refused: ${plain(each.text)} (${plain(each.refusal)})`)),
  (tool.conflicts || []).map((each) => caution(`Conflict: ${plain(each.text)} (${plain(each.conflict)})`)));
const questionEntry = (each) => element("li", "", plain(each.text), " ", element("code", "", plain(each.id)));

function show(answer, more) {
  const asked = answer.questions.length ? element("details", "",
    element("summary", "", `Only the author can know (${answer.questions.length})`),
    element("ul", "", answer.questions.map(questionEntry))) : null;
  const left = answer.remaining ? ` · ${count(answer.remaining, "more tool")} to come` : "";
  return [
    element("header", "",
      element("h1", "", `${count(answer.rewrites.filter((each, place) => changesOf(each, more?.rewrites[place]).length).length, "tool")} with new words`),
      element("p", "dim", typeof answer.overallScore === "number"
        ? ["With them the server scores ", chip(answer.overallScore), " (estimated)", left] : left.slice(3))),
    list("entries", answer.rewrites.map((each, place) => toolEntry(each, more?.rewrites[place]))),
    asked,
  ].filter(Boolean);
}
