// The suite speaks HTTP and the server pipes: a bridge that hands each message on and changes none. What it answers
// itself (status codes, headers) is not a property of the server, so checks of HTTP are not counted.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { binary } from "../plan.mjs";

/** Serves on a free port of this machine until `close()`; every client shares one process of the server. */
export async function bridge(database) {
  const env = { COLIBRI_DB_PATH: database, COLIBRI_LOG_LEVEL: "error" };
  const child = spawn(binary, [], { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let turn = Promise.resolve();
  // The suite uses an id again, so one request waits for the one before it.
  const forward = (body) => {
    child.stdin.write(`${JSON.stringify(body)}\n`);
    if (body.id === undefined || body.method === undefined) return undefined;
    const answer = turn.then(async () => (await lines.next()).value);
    turn = answer.catch(() => undefined);
    return answer;
  };
  const http = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const answer = forward(JSON.parse(await text(request)));
    if (answer === undefined) return response.writeHead(202).end();
    const line = await answer;
    response.writeHead(200, { "content-type": "application/json" }).end(line);
  });
  await new Promise((listening) => http.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      http.close();
      child.stdin.end();
      await new Promise((ended) => child.once("exit", ended));
    },
  };
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
