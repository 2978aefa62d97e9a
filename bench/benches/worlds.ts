import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { get, PAGE, personas, world } from "../harness/data.ts";
import type { Absolute, Bench, Metric } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { dataFolder, type Server, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const NODES = 1_000;
/** The number of times that a round runs each operation. The result of the round is the median of these times. */
const TIMES = 21;

const data = world({ personas: [...personas(NODES)] });
const list = get(`${PAGE}/personas?limit=5`);

class Control {
  readonly #url: string;
  readonly #key: string;

  constructor({ ready }: Server) {
    this.#url = `${ready.control_url}/v1/worlds`;
    this.#key = String(ready.control_key);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the bench looks into any response.
  async request(method: string, path: string, body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${this.#key}` };
    const response = await fetch(this.#url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

type Operation = "make" | "first request" | "delete" | "snapshot" | "restore" | "reset" | "reset to 1,000 nodes" | "copy of its file";

const within = (server: Server, name: string) => ask(server, { ...list, target: `/w/${name}${list.target}` });

async function timed(times: number[], work: () => Promise<unknown> | unknown): Promise<void> {
  const startedAt = performance.now();
  await work();
  times.push(performance.now() - startedAt);
}

async function oneRound(server: Server, control: Control, round: number): Promise<Map<Operation, number>> {
  const times = new Map<Operation, number[]>();
  const measure = (operation: Operation, work: () => Promise<unknown> | unknown): Promise<void> => {
    const known = times.get(operation) ?? [];
    times.set(operation, known);
    return timed(known, work);
  };
  const [full, bare] = [`full${round}`, `bare${round}`];
  await control.request("POST", "", { name: full, file: data });
  await control.request("POST", "", { name: bare });
  for (let i = 0; i < TIMES; i++) {
    const name = `made${round}-${i}`;
    await measure("make", () => control.request("POST", "", { name }));
    await measure("first request", () => within(server, name));
    await measure("delete", () => control.request("DELETE", `/${name}`));
    await measure("snapshot", () => control.request("POST", `/${full}/snapshots`, { name: "s" }));
    await measure("restore", () => control.request("POST", `/${full}/snapshots/s/restore`));
    await measure("reset to 1,000 nodes", () => control.request("POST", `/${full}/reset`));
    await control.request("POST", `/${bare}/import`, data);
    await measure("reset", () => control.request("POST", `/${bare}/reset`));
    const file = join(dataFolder(server.folder), "snapshots", full, "s.sqlite");
    if (statSync(file, { throwIfNoEntry: false }) !== undefined)
      await measure("copy of its file", () => copyDurably(file, join(server.folder, "copy")));
  }
  const { status, text } = await within(server, full);
  if (status !== 200) throw new Error(`the world changed during the round: ${status} ${text}`);
  return new Map([...times].map(([operation, all]) => [operation, spreadOf(all).median]));
}

/** The floor for copies of worlds: does only the steps that every durable copy of a world needs. */
function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  fsyncSync(file);
  closeSync(file);
}

async function measureOn(inMemory: boolean, rounds: number): Promise<Map<Operation, number[]>> {
  const server = await startPlaza({ world: data, ...(inMemory ? { data: ":memory:" } : {}) });
  try {
    const control = new Control(server);
    await oneRound(server, control, 0);
    const medians = new Map<Operation, number[]>();
    for (let round = 1; round <= rounds; round++) {
      for (const [operation, median] of await oneRound(server, control, round)) medians.set(operation, [...(medians.get(operation) ?? []), median]);
    }
    return medians;
  } finally {
    await server.stop();
  }
}

/** Measures the memory of idle worlds: the kilobytes of the process for each of many worlds that were used before. */
async function idleKilobytes(inMemory: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "plaza-bench-"));
  try {
    const data = inMemory ? ":memory:" : dataFolder(folder);
    const running = Bun.spawn([process.execPath, join(import.meta.dir, "../engines/idle-worlds.ts"), data], { stdin: "ignore", stdout: "pipe" });
    const [stdout, code] = await Promise.all([new Response(running.stdout).text(), running.exited]);
    if (code !== 0) throw new Error("idle-worlds.ts failed");
    return Number(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const GOALS: Readonly<Partial<Record<Operation, number>>> = { make: 5, delete: 5, restore: 10, reset: 2 };

export const bench: Bench = {
  summary: `Measures how long the control API takes to create, snapshot, restore, reset and delete worlds of ${NODES.toLocaleString("en")} nodes, in a data folder (durable) and in memory. A round repeats each action ${TIMES} times and reports the median, including the request to the control API. \`reset\` is measured on a world that was empty when it was created. Also measures the memory that the process needs for each of 1,000 further worlds that were used once and are idle now.`,
  async run({ rounds }) {
    const metrics: Metric[] = [];
    const absolute: Absolute[] = [];
    for (const inMemory of [false, true]) {
      const where = inMemory ? "in memory" : "in a folder";
      for (const [operation, medians] of await measureOn(inMemory, rounds)) {
        const measured = { name: `${where}: ${operation}`, unit: "ms", ...spreadOf(medians) };
        const goal = GOALS[operation];
        if (goal === undefined) absolute.push(measured);
        else metrics.push({ ...measured, goal: { at_most: goal } });
      }
      metrics.push({
        name: `${where}: memory of an idle world`,
        unit: "kB",
        ...spreadOf([await idleKilobytes(inMemory)]),
        goal: { at_most: 100 },
      });
    }
    return { metrics, absolute };
  },
};
