// Agents at work: each is a server of its own on one database, spoken to over its pipes. The database is in a folder that goes at the end.

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const binary = process.env.COLIBRI_BIN;
/// The layer of the tests that moves a server's clock; without it all agents work at this moment.
const layer = process.env.COLIBRI_FILE_LAYER;

export class Desk {
  constructor(database = "colibri.db") {
    this.folder = mkdtempSync(join(tmpdir(), "colibri-browser-"));
    this.database = join(this.folder, database);
    this.clock = openSync(join(this.folder, "clock"), "w+");
    this.agents = [];
    this.setClock(0);
  }

  /// Makes all agents' clocks wrong by so many milliseconds.
  setClock(off) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(off)));
    writeSync(this.clock, bytes, 0, 8, 0);
  }

  environment(more) {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("COLIBRI_"));
    return { ...Object.fromEntries(own), COLIBRI_DB_PATH: this.database, COLIBRI_LOG_LEVEL: "error", TZ: "UTC", ...more };
  }

  /// Starts a server for an agent of this client, on behalf of that person.
  async agent(title, actor) {
    const moved = layer
      ? { LD_PRELOAD: layer, SHIM_FOLDER: this.folder, SHIM_CLOCK: join(this.folder, "clock") }
      : {};
    const agent = new Agent(this.environment({ COLIBRI_ACTOR: actor, ...moved }), this.folder);
    this.agents.push(agent);
    const clientInfo = { name: title.toLowerCase().replaceAll(" ", "-"), title, version: "1" };
    await agent.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    return agent;
  }

  /// Ends the servers, so that the whole database is in its file.
  async close() {
    await Promise.all(this.agents.splice(0).map((agent) => agent.end()));
  }

  /// Runs a command on the database and returns its exit code and what it says.
  async command(...words) {
    const child = spawn(binary, words, { cwd: this.folder, env: this.environment({}), stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.stderr.on("data", (part) => (said += part));
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, said };
  }

  async remove() {
    await this.close();
    closeSync(this.clock);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

class Agent {
  constructor(env, cwd) {
    this.child = spawn(binary, [], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = new Map();
    this.last = 0;
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line);
      // A request that the server cannot read has no id in its answer.
      const id = answer.id ?? this.last;
      this.waiting.get(id)?.(answer);
      this.waiting.delete(id);
    });
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
    this.ended.then(() => {
      for (const answer of this.waiting.values()) answer({ error: { message: "the server has ended" } });
    });
  }

  async request(method, params) {
    const id = ++this.last;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /// Calls a tool and returns its envelope, of a refusal, too.
  async call(name, args) {
    const result = await this.request("tools/call", { name, arguments: args });
    return JSON.parse(result.content[0].text);
  }

  /// Calls a tool that must succeed and returns its data.
  async data(name, args) {
    const envelope = await this.call(name, args);
    if (!envelope.ok || envelope.data?.ok === false) throw new Error(`${name}: ${JSON.stringify(envelope)}`);
    return envelope.data;
  }

  end() {
    this.child.stdin.end();
    return this.ended;
  }
}
