// The official TypeScript client, 2.x, in a session with any server.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { runSteps } from "../steps.mjs";

const MODES = { handshake: "legacy", "2026-07-28": { pin: "2026-07-28" }, auto: "auto" };

await runSteps(async (era, program, answers) => {
  const client = new Client(
    { name: "colibri-client-ts2", version: "1.0.0" },
    {
      capabilities: { sampling: {}, elicitation: {}, roots: {} },
      versionNegotiation: { mode: MODES[era] },
    },
  );
  client.setRequestHandler("sampling/createMessage", () => answers.sampling);
  client.setRequestHandler("elicitation/create", () => answers.elicitation);
  client.setRequestHandler("roots/list", () => answers.roots);
  await client.connect(new StdioClientTransport({ command: program, stderr: "ignore" }));
  return {
    close: () => client.close(),
    ping: () => client.ping(),
    tools: () => client.listTools(),
    resources: () => client.listResources(),
    prompts: () => client.listPrompts(),
    call: (name, args, hear) => client.callTool({ name, arguments: args }, { onprogress: hear }),
  };
});
