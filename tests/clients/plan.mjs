// What every JavaScript client does with a server: the calls of calls.json in their order, the refusals
// after them, a call of a tool that is not there, and a long call that tells how far it is. One line for
// each; plan.py is its twin.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const { calls, refusals, progress } = JSON.parse(readFileSync(new URL("calls.json", import.meta.url), "utf8"));

/** The server's binary. */
export const binary = process.env.COLIBRI_BIN ?? fail("COLIBRI_BIN must name the server's binary");

function fail(message) {
  console.error(message);
  process.exit(2);
}

/** A run of one client: counts, prints a line for each check, and ends the process. */
export class Report {
  passed = 0;
  failed = 0;

  constructor(client) {
    this.client = client;
  }

  /** Runs one check; anything that it throws is a failure with that text. */
  async check(era, name, action) {
    try {
      const value = await action();
      this.passed += 1;
      console.log(`ok    ${this.client}  ${era}  ${name}`);
      return value;
    } catch (error) {
      this.failed += 1;
      console.log(`FAIL  ${this.client}  ${era}  ${name}: ${error.message}`);
      return undefined;
    }
  }

  /** The closing line, and the exit code that goes with it. */
  finish() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}

/** Runs `action` with the path of a database in a folder of its own, which goes away. */
export async function withDatabase(action) {
  const folder = mkdtempSync(join(tmpdir(), "colibri-client-"));
  try {
    return await action(join(folder, "colibri.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs `action` with the settings of a server whose providers take a request and never answer it: a call
 * of the router then lasts as long as its attempts may.
 */
export async function withStalledProvider(database, action) {
  const sockets = new Set();
  const provider = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const url = `http://127.0.0.1:${provider.address().port}`;
  const candidates = join(dirname(database), "candidates.json");
  writeFileSync(candidates, JSON.stringify({ candidates: progress.candidates }));
  try {
    return await action({
      ...progress.settings,
      ...Object.fromEntries(progress.bases.map((name) => [name, url])),
      COLIBRI_ROUTER_CANDIDATES: `file:${candidates}`,
    });
  } finally {
    sockets.forEach((socket) => socket.destroy());
    provider.close();
  }
}

/** A long call with a listener: `call(tool, arguments, hear)` passes each notification to `hear`. */
export async function runProgress(report, era, call) {
  await report.check(era, `${progress.tool} (progress)`, async () => {
    const heard = [];
    const result = await call(progress.tool, progress.arguments, (params) => heard.push(params));
    assert.equal(result.isError, true, "no provider answers");
    const said = heard.map(({ message }) => message);
    // Each attempt lasts for two seconds and more, and tells once that it was begun.
    assert.deepEqual(said, progress.messages);
    assert.deepEqual(heard.map(({ progress, total }) => [progress, total]), [[1, 2], [2, 2]]);
    await sleep(1500);
    assert.equal(heard.length, said.length, "nothing is heard after the reply");
  });
}

/**
 * The whole plan against one connection: `list()` gives the tools, `call(tool, arguments)` a result,
 * `validate(schema, value)` an error text or null, and `unknown(error)` throws when a call of a tool
 * that is not there failed in another way than it should.
 */
export async function runPlan(report, era, { list, call, validate, unknown }) {
  const tools = await report.check(era, "tools/list", async () => {
    const listed = await list();
    // A tool that talks to the outside has no call that succeeds here; it is among the refusals.
    const planned = new Set([...Object.keys(calls), ...refusals.map(({ tool }) => tool)]);
    assert.deepEqual(listed.map((tool) => tool.name).sort(), [...planned].sort(), "calls.json has every tool");
    return new Map(listed.map((tool) => [tool.name, tool]));
  });
  if (tools === undefined) return;

  const replies = {};
  const perform = async (tool, template) => {
    const result = await call(tool, fill(template, replies));
    const envelope = checkResult(result);
    const problem = validate(tools.get(tool).outputSchema, envelope);
    assert.equal(problem, null, `does not fit the output schema: ${problem}`);
    return envelope;
  };
  for (const [tool, template] of Object.entries(calls)) {
    await report.check(era, tool, async () => {
      const envelope = await perform(tool, template);
      assert.ok(envelope.ok === true && envelope.data.ok !== false, `refused: ${JSON.stringify(envelope)}`);
      replies[tool] = envelope;
    });
  }
  for (const { title, tool, arguments: template, pattern, code } of refusals) {
    await report.check(era, `${tool} (${title})`, async () => {
      const envelope = await perform(tool, template);
      assert.equal(envelope.ok, pattern === "B", JSON.stringify(envelope));
      const error = pattern === "A" ? envelope.error : envelope.data.error;
      assert.equal(error?.code, code, JSON.stringify(envelope));
    });
  }
  if (unknown === undefined) return;
  await report.check(era, "a tool that is not there", async () => {
    const error = await call("no_such_tool", {}).then(
      (result) => assert.fail(`answered: ${JSON.stringify(result)}`),
      (thrown) => thrown,
    );
    unknown(error);
  });
}

/** The envelope of a result whose three parts agree: structured content, text block, error flag. */
function checkResult(result) {
  const envelope = result.structuredContent;
  assert.ok(envelope !== undefined, "no structuredContent");
  const [text, ...others] = result.content.map((block) => JSON.parse(block.text));
  assert.deepEqual(text, envelope, "text block and structuredContent agree");
  // What is said beside the result, such as that a vote does not count.
  const notices = others.map((other) => Object.keys(other).join());
  assert.ok(notices.length === 0 || notices.join(" ") === "warnings", "content is one block and perhaps a notice");
  assert.equal(result.isError ?? false, envelope.ok === false, "isError is set for Pattern A alone");
  return envelope;
}

/** Arguments with every `{"$from": tool, "pointer": …}` replaced from that tool's reply. */
function fill(template, replies) {
  if (template === null || typeof template !== "object") return template;
  if (Array.isArray(template)) return template.map((item) => fill(item, replies));
  if ("$from" in template) {
    const value = template.pointer.split("/").slice(1).reduce((at, key) => at?.[key], replies[template.$from]);
    assert.ok(value !== undefined, `${template.$from} left nothing at ${template.pointer}`);
    return value;
  }
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, replies)]));
}
