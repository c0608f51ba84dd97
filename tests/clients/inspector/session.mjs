// The official inspector's command line in a session with any server. Each step is a process of its own, with a server of its own.

import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runSteps } from "../steps.mjs";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const LAUNCHER = join(FOLDER, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const ERAS = { handshake: "legacy", "2026-07-28": "modern" };
const run = promisify(execFile);

await runSteps(async (era, program) => {
  const inspect = async (...args) => {
    const line = [LAUNCHER, "--cli", "--protocol-era", ERAS[era], "--format", "json", ...args, "--", program];
    // The inspector keeps state in the home folder: here that is the folder of the server's program.
    const env = { PATH: process.env.PATH, HOME: dirname(program) };
    const { code = 0, stdout } = await run(process.execPath, line, { env, maxBuffer: 1 << 26 }).catch((error) => error);
    return { code, stdout };
  };
  const call = (tool, args) =>
    inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
  return { close: () => {}, tools: () => inspect("--method", "tools/list"), call };
});
