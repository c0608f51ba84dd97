// The official TypeScript client, 2.x: both eras, and the probe that finds out by itself.

import assert from "node:assert/strict";
import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { binary, Report, runPlan, runProgress, withDatabase, withStalledProvider } from "../plan.mjs";

const MODES = [
  { name: "handshake", mode: "legacy", era: "legacy", version: "2025-11-25" },
  { name: "2026-07-28", mode: { pin: "2026-07-28" }, era: "modern", version: "2026-07-28" },
  { name: "auto", mode: "auto", era: "modern", version: "2026-07-28" },
];
const report = new Report("typescript-2.x");
const ajv = new AjvJsonSchemaValidator();

async function connect(mode, database, settings = {}) {
  const env = { COLIBRI_DB_PATH: database, COLIBRI_LOG_LEVEL: "warn", ...settings };
  const client = new Client(
    { name: "colibri-client-ts2", version: "1.0.0" },
    { versionNegotiation: { mode } },
  );
  await client.connect(new StdioClientTransport({ command: binary, env }));
  return client;
}

for (const { name, mode, era, version } of MODES) {
  await withDatabase(async (database) => {
    const client = await connect(mode, database);
    await report.check(name, "connect", () => {
      assert.equal(client.getProtocolEra(), era);
      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(client.getServerVersion().name, "colibri");
      assert.ok(client.getInstructions(), "instructions are there");
    });
    await runPlan(report, name, {
      list: async () => (await client.listTools()).tools,
      call: (tool, args) => client.callTool({ name: tool, arguments: args }),
      validate: (schema, value) => ajv.getValidator(schema)(value).errorMessage ?? null,
      unknown: (error) => {
        assert.ok(error instanceof ProtocolError, error.message);
        assert.equal(error.code, -32602);
      },
    });
    await client.close();
  });
  await withDatabase((database) => withStalledProvider(database, async (settings) => {
    const client = await connect(mode, database, settings);
    await runProgress(report, name, (tool, args, hear) =>
      client.callTool({ name: tool, arguments: args }, { onprogress: hear }));
    await client.close();
  }));
}
report.finish();
