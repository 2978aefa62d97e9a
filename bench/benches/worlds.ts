import { closeSync, copyFileSync, fsyncSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { get, PAGE, personas, world } from "../harness/data.ts";
import { residentMegabytes } from "../harness/machine.ts";
import type { Absolute, Bench, Metric } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { dataFolder, type Server, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const NODES = 1_000;
/** Of each operation in a round; its median counts. */
const TIMES = 21;
const RESTING = 1_000;
/** A world rests after one to two minutes without a request. */
const REST_MS_MAX = 180_000;

const data = world({ personas: [...personas(NODES)] });
const list = get(`${PAGE}/personas?limit=5`);

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
  if (status !== 200) throw new Error(`the world is not what it was: ${status} ${text}`);
  return new Map([...times].map(([operation, all]) => [operation, spreadOf(all).median]));
}

/** What no way of keeping a world durably can do without. */
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

/** Resident kB for each of many worlds that were used and rest. */
async function restingKilobytes(inMemory: boolean): Promise<number> {
  const server = await startPlaza({ world: data, ...(inMemory ? { data: ":memory:" } : {}) });
  try {
    const control = new Control(server);
    const use = async (name: string): Promise<void> => {
      await control.request("POST", "", { name, file: world({ personas: [...personas(10)] }) });
      const { status, text } = await within(server, name);
      if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
    };
    const rested = async (): Promise<void> => {
      for (const until = performance.now() + REST_MS_MAX; ; await wait(1_000)) {
        const { data: listed } = await control.request("GET", "?limit=1000");
        if (!listed.some(({ name, open }: { name: string; open: boolean }) => open && name !== "default")) return;
        if (performance.now() > until) throw new Error("worlds that nobody uses stay open");
      }
    };
    // The first ones are the price of having any.
    for (let i = 0; i < 100; i++) await use(`first${i}`);
    await rested();
    const before = residentMegabytes(server.pid);
    for (let i = 0; i < RESTING; i += 50) {
      for (let j = i; j < i + 50; j++) await use(`resting${j}`);
    }
    await rested();
    return ((residentMegabytes(server.pid) - before) * 1024) / RESTING;
  } finally {
    await server.stop();
  }
}

const GOALS: Readonly<Partial<Record<Operation, number>>> = { make: 5, delete: 5, restore: 10, reset: 2 };

export const bench: Bench = {
  summary: `Worlds of ${NODES.toLocaleString("en")} nodes made, kept, restored, reset and deleted by the control API, in a data folder (durable) and in memory, and the memory of ${RESTING.toLocaleString("en")} worlds that rest; each number is the median of ${TIMES} in a round, the request of the control API included. \`reset\` empties a world that was made empty.`,
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
        name: `${where}: memory of a world that rests`,
        unit: "kB",
        ...spreadOf([await restingKilobytes(inMemory)]),
        goal: { at_most: 100 },
      });
    }
    return { metrics, absolute };
  },
};
