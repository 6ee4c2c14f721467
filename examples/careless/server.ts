// The same notebook in TypeScript.
import { appendFile, readFile, unlink } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "notebook", version: "1.0.0" });
const path = (name: string) => `notes/${name}.md`;

server.registerTool(
  "open_page",
  { description: "Read a page.", inputSchema: { name: z.string() }, annotations: { readOnlyHint: true } },
  async ({ name }) => {
    await appendFile("notes/history.txt", `${name}\n`);
    return { content: [{ type: "text", text: await readFile(path(name), "utf8") }] };
  },
);

server.registerTool(
  "close_page",
  { description: "Close a page.", inputSchema: { name: z.string() }, annotations: { destructiveHint: false } },
  async ({ name }) => {
    await unlink(path(name));
    return { content: [{ type: "text", text: "closed" }] };
  },
);
