"use strict";
const list = document.getElementById("list");
if (list) {
  const tools = [...list.children];
  const element = (id) => document.getElementById(id);
  const controls = element("controls"), search = element("search"), tier = element("tier");
  const weak = element("weak"), sort = element("sort"), all = element("all");
  const texts = new Map();
  const textOf = (tool) => {
    if (!texts.has(tool)) texts.set(tool, tool.textContent.toLowerCase());
    return texts.get(tool);
  };
  const nameOf = (tool) => tool.querySelector(".name").textContent;
  const orders = {
    place: (a, b) => a.dataset.place - b.dataset.place,
    tdqs: (a, b) => a.dataset.tdqs - b.dataset.tdqs || orders.place(a, b),
    tokens: (a, b) => b.dataset.tokens - a.dataset.tokens || orders.place(a, b),
    name: (a, b) => nameOf(a).localeCompare(nameOf(b)),
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const tool of tools) {
      const fits = (!tier.value || tool.dataset.tier === tier.value)
        && (!weak.value || tool.dataset.weak.split(" ").includes(weak.value))
        && words.every((word) => textOf(tool).includes(word));
      tool.hidden = !fits;
      shown += fits;
    }
    element("shown").textContent = shown === tools.length ? `${shown}` : `${shown} of ${tools.length}`;
    element("nothing").hidden = shown > 0;
  };
  const openTarget = () => {
    const target = location.hash.startsWith("#tool-") && element(location.hash.slice(1));
    if (!target) return;
    target.open = true;
    target.hidden = false;
    target.scrollIntoView();
  };
  controls.hidden = tools.length < 2;
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const each of [search, tier, weak]) each.addEventListener("input", filter);
  sort.addEventListener("input", () => list.append(...tools.sort(orders[sort.value])));
  all.addEventListener("click", () => {
    const open = all.textContent === "Open all";
    for (const tool of tools) tool.open = open && !tool.hidden;
    all.textContent = open ? "Close all" : "Open all";
  });
  addEventListener("hashchange", openTarget);
  if (tools.length === 1) tools[0].open = true;
  filter();
  openTarget();
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const each of closed) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of closed) each.open = false;
});
