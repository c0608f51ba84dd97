// The official TypeScript SDK, 1.x, in a session with any server.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { runSteps } from "../steps.mjs";

await runSteps(async (_era, program, answers) => {
  const capabilities = { sampling: {}, elicitation: {}, roots: {} };
  const client = new Client({ name: "colibri-client-ts1", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => answers.sampling);
  client.setRequestHandler(ElicitRequestSchema, () => answers.elicitation);
  client.setRequestHandler(ListRootsRequestSchema, () => answers.roots);
  await client.connect(new StdioClientTransport({ command: program, stderr: "ignore" }));
  return {
    close: () => client.close(),
    ping: () => client.ping(),
    tools: () => client.listTools(),
    resources: () => client.listResources(),
    prompts: () => client.listPrompts(),
    call: (name, args, hear) => client.callTool({ name, arguments: args }, undefined, { onprogress: hear }),
  };
});
