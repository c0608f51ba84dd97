// The official conformance suite, as it is published, against the server: what it asks of `server/discover`, of every
// stateless request, and of the methods that this server has.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Report, withDatabase } from "../plan.mjs";
import { bridge } from "./bridge.mjs";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const SUITE = join(FOLDER, "node_modules/@modelcontextprotocol/conformance");
const SCENARIOS = [
  ["server-stateless", "2026-07-28"],
  ["tools-list", "2026-07-28"],
  ["caching", "2026-07-28"],
  ["server-initialize", "2025-11-25"],
  ["ping", "2025-11-25"],
  ["tools-list", "2025-11-25"],
];
/** Checks that say nothing of this server, and why. */
const APART = [
  [/http/, "of HTTP, which the bridge answers"],
  [/undeclared-capability|no-log-without-loglevel/, "of a tool that only the suite's own server has"],
  [/(prompts|resources).*-caching-hints/, "of prompts and resources, which the server does not have"],
];
/** What the suite asks of `server/discover`. One that is missing would be a suite that asks less. */
const DISCOVER = [
  "sep-2575-request-meta-invalid-missing-meta",
  "sep-2575-request-meta-invalid-missing-protocol-version",
  "sep-2575-request-meta-invalid-missing-client-capabilities",
  "sep-2575-request-meta-client-info-optional",
  "sep-2575-server-implements-discover",
  "sep-2575-server-identifies-in-result-meta",
  "sep-2575-server-declares-prompts-in-discover",
  "sep-2575-discover-capabilities-match-handlers",
  "sep-2575-server-unsupported-version-error",
];

/** Runs one scenario; its checks. The suite's exit code counts those that stand apart, too. */
async function run(url, scenario, revision, output) {
  const suite = join(SUITE, "dist/index.js");
  const line = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", output];
  const hooks = join(FOLDER, "hooks.mjs");
  await new Promise((ended) => execFile(process.execPath, ["--import", hooks, suite, ...line], ended));
  const files = readdirSync(output, { recursive: true }).filter((name) => name.endsWith("checks.json"));
  assert.equal(files.length, 1, `${scenario} left ${files.length} results`);
  return JSON.parse(readFileSync(join(output, files[0]), "utf8"));
}

const { version } = JSON.parse(readFileSync(join(SUITE, "package.json"), "utf8"));
const report = new Report(`conformance-${version}`);
await withDatabase(async (database) => {
  const server = await bridge(database);
  const seen = new Set();
  for (const [scenario, revision] of SCENARIOS) {
    const output = join(dirname(database), `${scenario}-${revision}`);
    const checks = await report.check(revision, scenario, () => run(server.url, scenario, revision, output));
    for (const { id, status, errorMessage } of checks ?? []) {
      seen.add(id);
      const apart = APART.find(([pattern]) => pattern.test(id));
      if (apart !== undefined || status === "SKIPPED" || status === "INFO") {
        console.log(`note  ${report.client}  ${revision}  ${id} is not counted: ${apart?.[1] ?? status.toLowerCase()}`);
        continue;
      }
      await report.check(revision, id, () => assert.equal(status, "SUCCESS", errorMessage));
    }
  }
  await report.check("2026-07-28", "every check of server/discover was made", () => {
    assert.deepEqual(DISCOVER.filter((id) => !seen.has(id)), []);
  });
  await server.close();
});
report.finish();
