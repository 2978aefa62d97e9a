/**
 * `plaza doctor`: finds problems that keep a server from starting or working, and says how to solve them. `plaza doctor` only
 * reads data and changes nothing.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Config, ConfigProblem } from "#config/config";
import { findConfigFile, readConfigOfCommand } from "#config/config-file";
import { listening } from "#config/listening";
import { environment } from "#config/option";
import { variableWarnings } from "#config/read-config";
import { isFolder } from "#config/server-files";
import { type ServerStatus, statusOf } from "#control/client/status";
import { type CheckedFile, checkFiles, worldFiles } from "#data-check";
import { settings } from "#features";
import { connectionsWithin } from "#http/limits";
import { reservePort } from "#http/listeners/listener";
import { version } from "#package.json";
import { problemOfWorldFile } from "#storage/open";
import { openFilesMax } from "#system";
import { controlRequests, findServerAddress, type Given } from "../control-client.ts";
import { FAILED, printable, say } from "../terminal/output.ts";

interface Finding {
  readonly health: "ok" | "warning" | "problem";
  /** The finding in one line, which names the problem and its solution. */
  readonly text: string;
}

const ok = (text: string): Finding => ({ health: "ok", text });
const warning = (text: string): Finding => ({ health: "warning", text });
const problem = (text: string): Finding => ({ health: "problem", text });

/** Runs all checks. Resolves with 1 if a check found a problem. */
export async function doctor(given: Given): Promise<number> {
  const findings = [ok(`Plaza ${version} on Bun ${process.versions.bun}, ${process.platform} ${process.arch}`)];
  const config = await configOf(given, findings);
  if (config !== undefined) {
    const server = await serverOf(given, findings);
    findings.push(...filesOf(config), ...(await contentOf(config)), ...limitsOf(config), ...(server === undefined ? await portsOf(config) : []));
  }
  for (const { health, text } of findings) say(given.json === true ? JSON.stringify({ health, text }) : printable(`${health.padEnd(8)} ${text}`));
  return findings.some(({ health }) => health === "problem") ? FAILED : 0;
}

async function configOf(given: Given, findings: Finding[]): Promise<Config | undefined> {
  try {
    const file = await findConfigFile(given);
    const config = await readConfigOfCommand(given, settings);
    findings.push(ok(`configuration: ${file === undefined ? "no plaza.config.yaml in this folder" : `${file.path} is in order`}`));
    findings.push(...variableWarnings(environment(), settings).map((text) => warning(`configuration: ${text}`)));
    return config;
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error;
    findings.push(problem(`configuration: ${error.message}`));
    return undefined;
  }
}

/** Returns the status of the running server; undefined if no server runs. */
async function serverOf(given: Given, findings: Finding[]): Promise<ServerStatus | undefined> {
  try {
    if ((await findServerAddress(given)) === undefined) {
      findings.push(ok("server: no server runs on the data"));
      return undefined;
    }
    const status = await statusOf(await controlRequests(given));
    findings.push(...serverFindings(status));
    return status;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    findings.push(problem(`server: ${error.message}`));
    return undefined;
  }
}

function serverFindings({ pid, base_url, ready, version: running, callbacks, alerts }: ServerStatus): Finding[] {
  const findings = [
    ready
      ? ok(`server: process ${pid} serves ${base_url}`)
      : problem(`server: process ${pid} serves ${base_url}, but cannot use its database; see its log`),
  ];
  if (running !== version)
    findings.push(warning(`server: the server has version ${running}, and this command has version ${version}: restart the server`));
  findings.push(...alerts.filter(({ kind }) => kind.startsWith("database_")).map(({ text }) => problem(`database: ${text}`)));
  for (const { url, status } of callbacks)
    findings.push(warning(`webhooks: the callback ${url} is ${status}; plaza deliveries list --callback ${url} shows why`));
  return findings;
}

const GROUP_AND_OTHERS = 0o077;

function filesOf({ data, disk_reserve_bytes }: Config): Finding[] {
  if (data === ":memory:") return [ok("data: in memory, and deleted when the server ends")];
  if (data.startsWith("postgres")) return [ok("data: PostgreSQL; a running server reports at /readyz whether it reaches the database")];
  if (!existsSync(data)) return [ok(`data: the first start creates the folder ${data}`)];
  const findings: Finding[] = [];
  try {
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    findings.push(ok(`data: the folder ${resolve(data)}`));
  } catch {
    return [problem(`data: this user may not write in the folder ${resolve(data)}`)];
  }
  for (const name of ["secret.key", "control.key"]) {
    const file = join(data, name);
    if (existsSync(file) && process.platform !== "win32" && (statSync(file).mode & GROUP_AND_OTHERS) !== 0)
      findings.push(problem(`data: other users may read ${file}: run chmod 600 ${file}`));
  }
  const { bavail, bsize } = statfsSync(data);
  const freeBytes = bavail * bsize;
  if (freeBytes < disk_reserve_bytes)
    findings.push(
      warning(
        `data: ${Math.floor(freeBytes / 1e6)} MB of disk are free; recordings of live video end below ${Math.floor(disk_reserve_bytes / 1e6)} MB`,
      ),
    );
  return findings;
}

/** The time limit for reading the data files. Within the limit the command reads about thirty gigabytes. */
const CHECKED_WITHIN_MS = 600_000;

/** Reads the files of all worlds completely (D-343). */
async function contentOf({ data }: Config): Promise<Finding[]> {
  if (!isFolder(data) || !existsSync(data)) return [];
  const [empty, files]: [CheckedFile[], string[]] = [[], []];
  for (const file of worldFiles(data)) {
    const problem = await problemOfWorldFile(file, "size");
    if (problem === undefined) files.push(file);
    else empty.push({ file, problem });
  }
  if (empty.length + files.length === 0) return [];
  const { checked, unfinished } = await checkFiles(files, CHECKED_WITHIN_MS);
  const damaged = [...empty, ...checked].filter((one) => one.problem !== undefined);
  const whole = checked.length + empty.length - damaged.length;
  return [
    ...(whole === 0 ? [] : [ok(`data: ${whole === 1 ? "the file of a world is" : `the files of ${whole} worlds are`} whole`)]),
    ...damaged.map(({ file, problem: text }) => problem(`data: ${file} ${text}: restore the file from a backup`)),
    ...unfinished.map((file) => warning(`data: ${file} was not read to its end; run PRAGMA quick_check with the sqlite3 program`)),
  ];
}

function limitsOf({ connections_max }: Config): Finding[] {
  const files = openFilesMax();
  if (files === undefined) return [];
  const connections = connectionsWithin(connections_max, files);
  if (connections === connections_max) return [ok(`limits: ${files} open files, enough for ${connections} connections`)];
  return [warning(`limits: with ${files} open files (ulimit -n) Plaza accepts ${connections} connections instead of ${connections_max}`)];
}

async function portsOf({ host, port, control_host, control_port }: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [option, address, number] of [
    ["--port", host, port],
    ["--control-port", control_host, control_port],
  ] as const) {
    if (number === 0) continue;
    try {
      const reserved = await listening(option, address, number, () => reservePort(address, number));
      reserved.release();
      findings.push(ok(`ports: ${address}:${number} is free`));
    } catch (error) {
      if (!(error instanceof ConfigProblem)) throw error;
      findings.push(problem(`ports: ${error.message}`));
    }
  }
  return findings;
}
