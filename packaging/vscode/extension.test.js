// Runs the extension against the language server with Node alone: `node --test`, after `npm install`.
const test = require("node:test");
const assert = require("node:assert");
const Module = require("node:module");

const shown = [];
let started;
class LanguageClient {
  constructor(id, name, server, options) {
    started = { id, name, server, options };
  }
  async start() {
    if (started.server.command === "missing") throw new Error("ENOENT");
  }
  async stop() {
    started = undefined;
  }
}
let command = ["tdqs-mcp", "lsp"];
const stubs = {
  vscode: {
    workspace: { getConfiguration: () => ({ get: () => command }) },
    window: { showErrorMessage: (text) => shown.push(text) },
  },
  "vscode-languageclient/node": { LanguageClient },
};
const load = Module._load;
Module._load = (request, ...rest) => stubs[request] ?? load(request, ...rest);
const extension = require("./extension.js");

test("it starts the configured command for the languages that declare tools", async () => {
  await extension.activate();
  assert.deepEqual(started.server, { command: "tdqs-mcp", args: ["lsp"] });
  assert.ok(started.options.documentSelector.some(({ language }) => language === "typescript"));
  await extension.deactivate();
  assert.equal(started, undefined);
});

test("a server that does not start is said, with what to install", async () => {
  command = ["missing", "lsp"];
  await extension.activate();
  assert.match(shown[0], /missing lsp did not start \(ENOENT\); install it with pip install '\.\[lsp\]' in a checkout/);
});

test("the client library has what the extension takes from it", { skip: !process.env.CI && "npm install first" }, () => {
  const source = require("node:fs").readFileSync(require.resolve("vscode-languageclient/package.json"), "utf-8");
  assert.ok(JSON.parse(source).version);
});
