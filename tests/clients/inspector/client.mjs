// The official inspector's command line: its strict schema check, and every call, in both eras. Each
// call is a process of its own, so the calls of an era share a database file and nothing else.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { binary, Report, runPlan, withDatabase } from "../plan.mjs";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const LAUNCHER = join(FOLDER, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
/** The inspector's exit code for a result whose isError is set. */
const TOOL_ERROR = 5;
/** Only results of the stateless era name the server. */
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

const report = new Report("inspector");
const ajv = new AjvJsonSchemaValidator();
const run = promisify(execFile);

/** Runs the inspector once; its exit code, its result and what it said beside it. */
async function inspect(era, database, args) {
  const variables = ["-e", `COLIBRI_DB_PATH=${database}`, "-e", "COLIBRI_LOG_LEVEL=warn"];
  const line = [LAUNCHER, "--cli", ...variables, "--protocol-era", era, "--format", "json", ...args, "--", binary];
  // The inspector keeps state in the home folder: here that is the folder of the database.
  const env = { PATH: process.env.PATH, HOME: dirname(database) };
  const ended = await run(process.execPath, line, { env, maxBuffer: 1 << 26 }).catch((error) => error);
  const code = ended.code ?? 0;
  assert.ok(code === 0 || code === TOOL_ERROR, `exit code ${code}: ${ended.stderr}`);
  const { result } = JSON.parse(ended.stdout);
  return { code, result, notes: ended.stderr };
}

for (const [name, era] of [["handshake", "legacy"], ["2026-07-28", "modern"]]) {
  await withDatabase(async (database) => {
    let summary = "";
    await runPlan(report, name, {
      list: async () => {
        const { code, result, notes } = await inspect(era, database, ["--method", "tools/list", "--strict"]);
        assert.equal(code, 0, notes);
        summary = notes.split("\n").find((line) => /^\d+ errors?, \d+ warnings?/.test(line)) ?? "no findings";
        return result.tools;
      },
      call: async (tool, args) => {
        const call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)];
        const { code, result } = await inspect(era, database, call);
        assert.equal(SERVER_INFO in (result._meta ?? {}), era === "modern", "the era that was asked for");
        assert.equal(code === TOOL_ERROR, result.isError ?? false, "exit code and isError agree");
        return result;
      },
      validate: (schema, value) => ajv.getValidator(schema)(value).errorMessage ?? null,
    });
    console.log(`note  inspector  ${name}  strict schema check: ${summary}`);
  });
}
report.finish();
