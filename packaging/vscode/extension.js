// Starts `tdqs-mcp lsp` and hands it what is open; everything else is the server's.
const { workspace, window } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["python", "javascript", "typescript", "typescriptreact", "json", "jsonc"];

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("tdqs-mcp").get("command");
  const documentSelector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("tdqs-mcp", "tdqs-mcp", { command, args }, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `tdqs-mcp: ${[command, ...args].join(" ")} did not start (${error.message}); install it with ` +
        `pip install '.[lsp]' in a checkout of tdqs-mcp, or set tdqs-mcp.command`,
    );
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
