#!/usr/bin/env node
/**
 * Starts Plaza where it is installed as a package, and where there is no `sh`. As `bin/plaza` does, it runs the program on the Bun
 * that npm installed, whether or not npm ran the install script of Bun's package.
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
// A .env, bunfig.toml or missing package of the folder it is started in is that project's, not Plaza's.
const args = [`--config=${devNull}`, "--no-env-file", "--no-install", existsSync(source) ? source : packaged, ...process.argv.slice(2)];
if (process.execve !== undefined && process.platform !== "win32") {
  process.removeAllListeners("warning");
  process.emitWarning = () => {};
  process.execve(bun, [bun, ...args], process.env);
}
run(bun, args);

/** If Node cannot replace itself by a program, signals go to the server, which ends with this process in any case. */
function run(program, withArgs) {
  const server = spawn(program, withArgs, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => server.kill(signal));
  server.on("error", (error) => {
    console.error(`plaza: ${program} cannot be run: ${error.message}`);
    process.exit(WRONG_USE);
  });
  server.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
