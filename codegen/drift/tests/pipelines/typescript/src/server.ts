// A server of two tools on the official TypeScript SDK.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

type Issue = { number: number; title: string; open: boolean };
const issues: Issue[] = [{ number: 1, title: "The door squeaks", open: true }];

const server = new McpServer({ name: "issues", version: "1.0.0" });
const answer = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });

server.registerTool(
  "list_issues",
  {
    description: "Lists issues.",
    inputSchema: {
      order: z.enum(["created", "updated", "comments"]).optional(),
      limit: z.number().int().min(1).max(100).optional(),
    },
  },
  async ({ limit }) => answer(issues.slice(0, limit)),
);
server.registerTool(
  "close_issue",
  {
    description: "Closes an issue.",
    inputSchema: { number: z.number().int() },
  },
  async ({ number }) => answer(issues.map((issue) => ({ ...issue, open: issue.open && issue.number !== number }))),
);

await server.connect(new StdioServerTransport());
