// A session of a JavaScript client with any server: the steps of a file in their order, and for each a line of JSON with what the
// client got. `wrapped/client.py` compares sessions with a bare and a wrapped server; steps.py is its twin.

import { readFileSync } from "node:fs";

/**
 * Runs the session that the command line names: an era, a file of steps, and the program that starts the server. `open(era,
 * program, answers)` connects, with `answers` to what the server asks, and gives an action for each kind of step, and `close`.
 */
export async function runSteps(open) {
  const [era, file, program] = process.argv.slice(2);
  const { steps, answers } = JSON.parse(readFileSync(file, "utf8"));
  let client;
  const connected = await attempt(async () => {
    client = await open(era, program, answers);
    return null;
  });
  print({ step: "connect", ...connected });
  if (client === undefined) return;
  for (const { do: action, tool, arguments: args, progress } of steps) {
    // What a listener hears is not printed: these clients forget the listener with the reply, so of two lines that come together
    // the progress may be lost. The bytes are compared.
    const hear = progress ? () => {} : undefined;
    print({ step: tool ?? action, ...(await attempt(() => client[action](tool, args, hear))) });
  }
  await client.close();
}

async function attempt(action) {
  try {
    return { result: await action() };
  } catch (error) {
    return { error: { code: error.code ?? null, message: error.message } };
  }
}

function print(value) {
  console.log(JSON.stringify(value));
}
