/** Starts servers from `bin/plaza` for the cases: one server for each response profile and world. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { Case } from "./cases.ts";
import { controlAddresses } from "./given.ts";
import { exchange } from "./http/requests.ts";
import { freshId } from "./names.ts";
import type { Target } from "./session.ts";
import { buildWorld } from "./worlds.ts";

const PROGRAM = join(import.meta.dirname, "..", "bin", "plaza");
/** The time limit of a start. A server starts in a quarter of a second, but takes far longer on a machine under load. */
const READY_WITHIN_MS = 60_000;
/** The time limit of a stop. Plaza gives running requests at most 10 s to end. */
const STOPPED_WITHIN_MS = 12_000;

export interface RunningServer extends Target {
  /** Restores the world with which the server started. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. `data` is a value of the option `--data`. If `data` is an address of PostgreSQL, the server gets a database of its own there. */
export async function startServer(testCase: Case, data: string, receiver: string): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), "plaza-conformance-"));
  const database = data.startsWith("postgres") ? await createDatabase(data) : undefined;
  const worldFile = join(folder, "world.json");
  writeFileSync(worldFile, JSON.stringify(buildWorld(testCase.world, testCase.fragment, new Map([["receiver", receiver]]))));
  const ownData = database?.url ?? (data === ":memory:" ? data : join(data, freshId()));
  const options = ["--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off", "--data", ownData, "--world", worldFile];
  for (const [name, value] of Object.entries(testCase.options)) options.push(`--${name}`, value);
  const child = spawn(PROGRAM, ["start", ...options, "--profile", testCase.profile], { stdio: ["ignore", "pipe", "pipe"] });
  const cleanUp = async () => {
    await stopProcess(child);
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const ready = await readReadyLine(child);
    const target = targetOf(ready);
    return { ...target, reset: () => resetWorld(target), stop: cleanUp };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

async function resetWorld({ addresses, controlKey }: Target): Promise<void> {
  const { response } = await exchange({ method: "POST", target: "/reset", on: "world" }, addresses, { Authorization: `Bearer ${controlKey}` });
  if (response.status !== 200) throw new Error(`the world could not be reset: ${response.status}`);
}

/** The names that cases use for the surfaces whose addresses are in the server's ready line, by the keys of that line. */
const READY_ADDRESSES: Readonly<Record<string, string>> = {
  base_url: "base",
  app_base_url: "app",
  microblog_base_url: "microblog",
  ads_base_url: "ads",
  social_login_host: "social_login",
};

function targetOf(ready: Readonly<Record<string, unknown>>): Target {
  const addresses: Record<string, string> = {};
  for (const [name, surface] of Object.entries(READY_ADDRESSES)) if (typeof ready[name] === "string") addresses[surface] = ready[name];
  if (typeof ready.control_url === "string") Object.assign(addresses, controlAddresses(ready.control_url));
  return { addresses, ...(typeof ready.control_key === "string" ? { controlKey: ready.control_key } : {}) };
}

function readReadyLine(child: ChildProcess): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let out = "";
    let err = "";
    const fail = (why: string) => reject(new Error(`bin/plaza start ${why}\n${err.slice(-4000)}`));
    const timer = setTimeout(() => fail(`was not ready within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
    child.on("error", (error) => fail(`could not be started: ${error.message}`));
    child.on("exit", (code) => fail(`ended with exit code ${code}`));
    child.stderr?.on("data", (chunk: Buffer) => {
      err = (err + chunk).slice(-20_000);
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk;
      const end = out.indexOf("\n");
      if (end < 0) return;
      clearTimeout(timer);
      try {
        resolve(JSON.parse(out.slice(0, end)) as Record<string, unknown>);
      } catch {
        fail(`printed something other than one JSON line: ${out.slice(0, 500)}`);
      }
    });
  });
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}

async function createDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `conformance_${freshId()}`;
  const onCluster = async (statement: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await onCluster(`CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => onCluster(`DROP DATABASE ${name} WITH (FORCE)`) };
}
