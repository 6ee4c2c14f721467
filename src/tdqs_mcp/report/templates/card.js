"use strict";
const host = window.parent, card = document.getElementById("card"), root = document.documentElement;
const send = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");

const element = (name, style, ...content) => {
  const made = document.createElement(name);
  if (style) made.className = style;
  made.append(...content.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== ""));
  return made;
};
const plain = (text) => (/^⟦[^]*⟧$/.test(text) ? text.slice(1, -1) : `${text ?? ""}`);
const score = (number) => Number(number).toFixed(1);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const list = (style, entries) => (entries.length ? element("ul", style, entries) : null);
const section = (title, content) => (content ? [element("h2", "", title), content] : []);

const tiers = card.dataset.tiers.trim().split(" ");
const tierOf = (number) => tiers.find((_, place) => place % 2 === 0 && number >= Number(tiers[place + 1]));
const chip = (number) => (typeof number === "number"
  ? element("span", `chip tier-${tierOf(number)}`, element("b", "", score(number)), ` ${tierOf(number)}`)
  : element("span", "chip tier-none", "no score"));

const showText = (result) => (result.content || []).filter((each) => each.type === "text").map((each) => element("p", "", each.text));
const showResult = (result) => {
  const isAnswer = result.structuredContent && !result.isError;
  card.replaceChildren(...(isAnswer ? show(result.structuredContent, result._meta?.[card.dataset.meta]) : showText(result)));
};

const applyContext = (context) => {
  if (context.theme) root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables || {})) {
    if (/^--(color|font)-[a-z-]+$/.test(name) && value) root.style.setProperty(name, value);
  }
};

const notifications = {
  "ui/notifications/tool-result": showResult,
  "ui/notifications/tool-cancelled": () => card.replaceChildren(element("p", "dim", "The call was cancelled.")),
  "ui/notifications/host-context-changed": applyContext,
};
const START = 1;
let height = 0;
const tellSize = () => {
  const now = Math.ceil(document.body.getBoundingClientRect().height);
  if (now !== height) send({ method: "ui/notifications/size-changed", params: { width: innerWidth, height: (height = now) } });
};

addEventListener("message", ({ source, data }) => {
  if (source !== host || data?.jsonrpc !== "2.0") return;
  if (data.id === START && !data.method) {
    applyContext(data.result?.hostContext || {});
    send({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(tellSize).observe(document.body);
  } else if (data.id === undefined) {
    notifications[data.method]?.(data.params || {});
  } else if (["ping", "ui/resource-teardown"].includes(data.method)) {
    send({ id: data.id, result: {} });
  } else if (data.method) {
    send({ id: data.id, error: { code: -32601, message: "Method not found" } });
  }
});
send({
  id: START,
  method: "ui/initialize",
  params: {
    protocolVersion: "2026-01-26",
    appInfo: { name: card.dataset.name, version: card.dataset.version },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  },
});
