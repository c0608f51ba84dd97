#!/usr/bin/env node
// Starts COMMAND, the program of the package for this platform, and stands aside: the program has the launcher's own stdin, stdout and
// stderr, signals are handed on, and the launcher ends as the program did.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const PACKAGES = "PACKAGES";

const platform = `${process.platform}-${process.arch}`;

function fail(message) {
  process.stderr.write(`COMMAND: ${message}\n`);
  process.exit(127);
}

function program() {
  const name = PACKAGES[platform];
  if (!name) fail(`there is no package for ${platform}; HOMEPAGE says how to build it`);
  try {
    const { version } = require(`${name}/package.json`);
    if (version !== "VERSION") {
      fail(`the package ${name} has version ${version}, and this launcher is VERSION; install both in the same version: npm install ${name}@VERSION`);
    }
    return require.resolve(`${name}/bin/COMMAND`);
  } catch {
    const musl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
    if (musl) return fail("the packages for Linux need glibc, which this system does not have; HOMEPAGE says how to build it");
    return fail(`the package ${name} is missing, which npm leaves out with --omit=optional; install it beside this one: npm install ${name}@VERSION, or its file`);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });

// A terminal sends these two to the program itself; it must not get them twice.
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"];
const handed = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2", "SIGCONT"];
const handOn = (signal) => {
  // Not `process.stdin`: it would change the pipe that the program reads.
  if (!(isatty(0) && FROM_TERMINAL.includes(signal))) child.kill(signal);
};
for (const signal of handed) process.on(signal, handOn);

child.on("error", (error) => fail(`cannot start ${child.spawnfile}: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of handed) process.removeListener(each, handOn);
  // The launcher ends by the same signal; if that one does not end it, with the code that a shell would tell.
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
