// The official TypeScript SDK, 1.x: the handshake era.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { binary, Report, runPlan, runProgress, withDatabase, withStalledProvider } from "../plan.mjs";

const report = new Report("typescript-1.x");
const ajv = new AjvJsonSchemaValidator();

async function connect(database, settings = {}) {
  const env = { COLIBRI_DB_PATH: database, COLIBRI_LOG_LEVEL: "warn", ...settings };
  const client = new Client({ name: "colibri-client-ts1", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: binary, env }));
  return client;
}

await withDatabase(async (database) => {
  const client = await connect(database);
  await report.check("handshake", "initialize", () => {
    assert.equal(client.getServerVersion().name, "colibri");
    assert.ok(client.getServerCapabilities().tools, "tools are announced");
    assert.ok(client.getInstructions(), "instructions are there");
  });
  await report.check("handshake", "ping", () => client.ping());
  await runPlan(report, "handshake", {
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    validate: (schema, value) => ajv.getValidator(schema)(value).errorMessage ?? null,
    unknown: (error) => {
      assert.ok(error instanceof McpError, error.message);
      assert.equal(error.code, -32602);
    },
  });
  await client.close();
});
await withDatabase((database) => withStalledProvider(database, async (settings) => {
  const client = await connect(database, settings);
  await runProgress(report, "handshake", (name, args, hear) =>
    client.callTool({ name, arguments: args }, undefined, { onprogress: hear }));
  await client.close();
}));
report.finish();
