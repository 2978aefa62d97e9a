import { get, PAGE, personas, post, world } from "../harness/data.ts";
import { applyLoad, type LoadRequest } from "../harness/load.ts";
import { residentMegabytes } from "../harness/machine.ts";
import type { Bench, Metric } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { LABELS_UNLIMITED, type Server, startFloor, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

/** The number of starts in a round. A start is too short to be measured alone. */
const STARTS_PER_ROUND = 2;
const IDLE_MS = 1_000;
const REQUESTS = 100_000;
const CONNECTIONS = 32;

const data = world({ personas: [...personas(10)] });
const list = get(`${PAGE}/personas?limit=5`);

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Measures the milliseconds from the start of the process to the first response with status 200 to an ordinary request. */
async function startedAndAsked(start: () => Promise<Server>, request: LoadRequest): Promise<{ server: Server; first_ms: number }> {
  const from = performance.now();
  const server = await start();
  const { status, text } = await ask(server, request);
  if (status !== 200) throw new Error(`${server.name}: ${status} ${text}`);
  return { server, first_ms: performance.now() - from };
}

async function idleAndStop(server: Server, keepFolder = false): Promise<number> {
  await wait(IDLE_MS);
  const resident = residentMegabytes(server.pid);
  await server.stop({ keepFolder });
  return resident;
}

/** Measures the resident memory after `REQUESTS` requests, half of them writes, and after ten times as many requests. */
async function memoryAfterLoad(): Promise<{ after: number; afterTenTimes: number }> {
  const server = await startPlaza({ world: data, settings: LABELS_UNLIMITED });
  try {
    let written = 0;
    const loadOnce = async (): Promise<void> => {
      await applyLoad(server, list, { connections: CONNECTIONS, requests: REQUESTS / 2 });
      const create: LoadRequest = {
        ...post(`${PAGE}/custom_labels`, '{"page_label_name":"label {number}"}'),
        number: { kind: "counted", first: written },
      };
      // When the load ends, the requests that are still running have used numbers beyond the last counted one.
      written += REQUESTS;
      await applyLoad(server, create, { connections: CONNECTIONS, requests: REQUESTS / 2 });
    };
    await loadOnce();
    await wait(IDLE_MS);
    const after = residentMegabytes(server.pid);
    for (let i = 1; i < 10; i++) await loadOnce();
    await wait(IDLE_MS);
    return { after, afterTenTimes: residentMegabytes(server.pid) };
  } finally {
    await server.stop();
  }
}

export const bench: Bench = {
  summary: `The time from \`bin/plaza start --json\`, on an empty folder with a small world file, to the first response with status 200 to a real request. Also measures the resident memory of the idle server, after ${REQUESTS.toLocaleString("en")} requests (half reads, half writes) and after ten times this number of requests. The reference program is a bare \`Bun.serve\` script.`,
  async run({ rounds }) {
    const plaza: { first: number; ready: number; again: number; idle: number }[] = [];
    const floor: { first: number; idle: number }[] = [];
    for (let i = 0; i < rounds * STARTS_PER_ROUND; i++) {
      const one = await startedAndAsked(() => startPlaza({ world: data, isFree: true }), list);
      const idle = await idleAndStop(one.server, true);
      const again = await startedAndAsked(() => startPlaza({ folder: one.server.folder, isFree: true }), list);
      await again.server.stop();
      plaza.push({ first: one.first_ms, ready: one.server.ready_ms, again: again.first_ms, idle });
      const other = await startedAndAsked(() => startFloor("bare", { isFree: true }), list);
      floor.push({ first: other.first_ms, idle: await idleAndStop(other.server) });
    }
    const { after, afterTenTimes } = await memoryAfterLoad();
    const limits: Metric[] = [
      { name: "start to the first response with status 200", unit: "ms", ...spreadOf(plaza.map(({ first }) => first)), goal: { at_most: 120 } },
      { name: "resident memory, idle", unit: "MB", ...spreadOf(plaza.map(({ idle }) => idle)), goal: { at_most: 65 } },
      { name: "memory after ten times the load, divided by memory after the load", ...spreadOf([afterTenTimes / after]), goal: { at_most: 1.1 } },
    ];
    const ratios: Metric[] = [
      { name: "start (Plaza divided by floor)", ...spreadOf(plaza.map(({ first }, i) => first / (floor[i]?.first ?? Number.NaN))) },
      { name: "idle memory (Plaza divided by floor)", ...spreadOf(plaza.map(({ idle }, i) => idle / (floor[i]?.idle ?? Number.NaN))) },
    ];
    return {
      metrics: [...limits, ...ratios],
      absolute: [
        { name: "Plaza: start to the ready line", unit: "ms", ...spreadOf(plaza.map(({ ready }) => ready)) },
        { name: "Plaza: start on existing data to the first response with status 200", unit: "ms", ...spreadOf(plaza.map(({ again }) => again)) },
        { name: "floor: start to the first response with status 200", unit: "ms", ...spreadOf(floor.map(({ first }) => first)) },
        { name: "floor: resident memory, idle", unit: "MB", ...spreadOf(floor.map(({ idle }) => idle)) },
        { name: `Plaza: resident memory after ${REQUESTS.toLocaleString("en")} requests`, unit: "MB", ...spreadOf([after]) },
        { name: "Plaza: resident memory after ten times as many requests", unit: "MB", ...spreadOf([afterTenTimes]) },
      ],
    };
  },
};
