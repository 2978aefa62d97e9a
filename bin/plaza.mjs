#!/usr/bin/env node
/**
 * Starts Plaza if it is installed as a package, or if the machine has no `sh`. Like `bin/plaza`, this script runs the program on
 * the Bun that npm installed, whether or not npm ran the install script of Bun's package.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, devNull } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBun } from "./find-bun.mjs";

const WRONG_USE = 2;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packaged = join(root, "dist/plaza.js");
const source = join(root, "src/cli/plaza.ts");

const bun = findBun(createRequire(import.meta.url));
if (bun === undefined) {
  console.error(`plaza: there is no Bun for ${process.platform} ${process.arch}: install the package again, with its optional dependencies`);
  process.exit(WRONG_USE);
}
// Bun must not read .env or bunfig.toml of the folder in which Plaza is started, or install packages there, because they belong
// to another project.
const args = [`--config=${devNull}`, "--no-env-file", "--no-install", existsSync(source) ? source : packaged, ...process.argv.slice(2)];
if (process.execve !== undefined && process.platform !== "win32") {
  process.removeAllListeners("warning");
  process.emitWarning = () => {};
  process.execve(bun, [bun, ...args], process.env);
}
run(bun, args);

/**
 * Runs the program as a child process, for systems on which Node cannot replace its own process. Signals are passed on to the
 * server, and the server also ends when this process ends.
 */
function run(program, withArgs) {
  const server = spawn(program, withArgs, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => server.kill(signal));
  server.on("error", (error) => {
    console.error(`plaza: ${program} cannot be run: ${error.message}`);
    process.exit(WRONG_USE);
  });
  server.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
