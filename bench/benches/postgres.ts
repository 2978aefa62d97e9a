import { startSender, startSink } from "../harness/deliveries.ts";
import { applyLoad, type LoadRequest } from "../harness/load.ts";
import { type Counted, countBetween, startPostgres, withChildren } from "../harness/postgres.ts";
import type { Absolute, Bench, Metric } from "../harness/report.ts";
import { ask, checkSameResponse } from "../harness/responses.ts";
import { LABELS_UNLIMITED, type Server, startFloor, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";
import { type Work, works } from "../harness/works.ts";

const CONNECTIONS = 64;
/** The warm-up time of the processes that send webhooks, in seconds. */
const WARM_UP_SECONDS = 5;
/**
 * The warm-up of the servers is a number of requests, not a time, because the CPU time of a request falls until the compiler has optimized the
 * code.
 */
const WARM_UP_REQUESTS = 30_000;
/**
 * The number of requests whose database messages are counted. The counted requests run one after the other, so that each message to the database
 * belongs to one request.
 */
const COUNTED_REQUESTS = 300;
const GOAL = { at_least: 0.6 };

/** The CPU time of one request, in µs. */
interface Cost {
  readonly per_second: number;
  readonly program_us: number;
  readonly postgres_us: number;
}

type Postgres = Awaited<ReturnType<typeof startPostgres>>;

async function measured(postgres: Postgres, server: Server, request: LoadRequest, seconds: number): Promise<Cost> {
  const before = { program: withChildren(server.pid), postgres: postgres.cpuMicroseconds() };
  const { requests, requests_per_second } = await applyLoad(server, request, { connections: CONNECTIONS, seconds });
  return {
    per_second: requests_per_second,
    program_us: (withChildren(server.pid) - before.program) / requests,
    postgres_us: (postgres.cpuMicroseconds() - before.postgres) / requests,
  };
}

const all = ({ program_us, postgres_us }: Cost): number => program_us + postgres_us;

async function comparisonOf(postgres: Postgres, work: Work, options: { rounds: number; seconds: number }) {
  const start = async (workers: string): Promise<Server> =>
    startPlaza({ world: work.world, data: await postgres.newDatabase(), settings: { ...LABELS_UNLIMITED, PLAZA_WORKERS: workers }, isFree: true });
  const floor = await startFloor("postgres", { given: { url: await postgres.newDatabase(), ...work.given }, isFree: true });
  const servers = [await start("1"), floor, await start("2")];
  try {
    await checkSameResponse(servers[0] as Server, floor, { ...work.requestOf(0), number: { kind: "counted", first: 0 } });
    for (const server of servers) await applyLoad(server, work.requestOf(0), { connections: CONNECTIONS, requests: WARM_UP_REQUESTS });
    const rounds: Cost[][] = [];
    for (let round = 1; round <= options.rounds; round++) {
      const costs: Cost[] = [];
      for (let turn = 0; turn < servers.length; turn++) {
        const index = (round + turn) % servers.length;
        costs[index] = await measured(postgres, servers[index] as Server, work.requestOf(round), options.seconds);
      }
      rounds.push(costs);
    }
    const over = (metric: (one: Cost, floor: Cost, two: Cost) => number) =>
      spreadOf(rounds.map(([a, b, c]) => metric(a as Cost, b as Cost, c as Cost)));
    const metrics: Metric[] = [
      { name: `${work.name}: requests/s (Plaza divided by floor)`, ...over((one, other) => one.per_second / other.per_second), goal: GOAL },
      { name: `${work.name}: CPU time with PostgreSQL's (floor divided by Plaza)`, ...over((one, other) => all(other) / all(one)) },
      { name: `${work.name}: requests/s (two processes divided by one)`, ...over((one, _, two) => two.per_second / one.per_second) },
    ];
    const absolute: Absolute[] = [["Plaza", 0] as const, ["floor", 1] as const, ["two processes", 2] as const].flatMap(([name, index]) => {
      const each = (metric: (cost: Cost) => number) => spreadOf(rounds.map((costs) => metric(costs[index] as Cost)));
      return [
        { name: `${work.name}, ${name}: requests/s`, unit: "/s", ...each(({ per_second }) => per_second) },
        { name: `${work.name}, ${name}: CPU time per request`, unit: "µs", ...each(({ program_us }) => program_us) },
        { name: `${work.name}, ${name}: PostgreSQL's CPU time per request`, unit: "µs", ...each(({ postgres_us }) => postgres_us) },
      ];
    });
    return { metrics, absolute };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Counts the messages that the server sends to the database for one request. */
async function countedOf(postgres: Postgres, work: Work): Promise<Absolute[]> {
  const proxy = await countBetween(await postgres.newDatabase());
  const server = await startPlaza({ world: work.world, data: proxy.url, settings: LABELS_UNLIMITED });
  try {
    const send = async (from: number): Promise<Counted> => {
      proxy.take();
      for (let at = from; at < from + COUNTED_REQUESTS; at++) {
        const { status, text } = await ask(server, { ...work.requestOf(0), number: { kind: "counted", first: 0 } }, at);
        if (status !== 200) throw new Error(`${work.name}: ${status} ${text}`);
      }
      return proxy.take();
    };
    await send(0);
    const { statements, roundTrips } = await send(COUNTED_REQUESTS);
    return [
      { name: `${work.name}: statements a request`, unit: "", ...spreadOf([statements / COUNTED_REQUESTS]) },
      { name: `${work.name}: round trips per request`, unit: "", ...spreadOf([roundTrips / COUNTED_REQUESTS]) },
    ];
  } finally {
    await server.stop();
    await proxy.stop();
  }
}

async function webhooksOf(postgres: Postgres, { rounds, seconds }: { rounds: number; seconds: number }) {
  const sink = await startSink();
  const ratios: { rate: number; cpu: number; per_second: number }[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const costs = new Map<string, Cost>();
      const sides = [["engines", "webhooks"] as const, ["floors", "postgres-webhooks"] as const];
      for (const [kind, name] of round % 2 === 0 ? sides : sides.toReversed()) {
        const sender = await startSender(kind, name, sink, [await postgres.newDatabase()]);
        await sender.round(WARM_UP_SECONDS);
        const before = postgres.cpuMicroseconds();
        const { per_second, cpu_us } = await sender.round(seconds);
        costs.set(kind, { per_second, program_us: cpu_us, postgres_us: (postgres.cpuMicroseconds() - before) / (per_second * seconds) });
        await sender.stop();
      }
      const [plaza, floor] = [costs.get("engines") as Cost, costs.get("floors") as Cost];
      ratios.push({ rate: plaza.per_second / floor.per_second, cpu: all(floor) / all(plaza), per_second: plaza.per_second });
    }
  } finally {
    await sink.stop();
  }
  return {
    metrics: [
      { name: "webhooks: deliveries/s (Plaza divided by floor)", ...spreadOf(ratios.map(({ rate }) => rate)), goal: GOAL },
      { name: "webhooks: CPU time with PostgreSQL's (floor divided by Plaza)", ...spreadOf(ratios.map(({ cpu }) => cpu)) },
    ],
    absolute: [{ name: "webhooks, Plaza: deliveries/s", unit: "/s", ...spreadOf(ratios.map(({ per_second }) => per_second)) }],
  };
}

export const bench: Bench = {
  summary: `\`read\`, \`node\`, \`write\`, \`events-1\` and webhooks on a local, durable PostgreSQL, over ${CONNECTIONS} connections, with one process and with two. The reference programs send the same prepared statements on the same number of connections. No process is pinned to a core, because PostgreSQL needs CPU time too.`,
  async run(options) {
    const postgres = await startPostgres();
    try {
      const metrics: Metric[] = [];
      const absolute: Absolute[] = [];
      for (const work of works.filter(({ name }) => name !== "events-50")) {
        const compared = await comparisonOf(postgres, work, options);
        metrics.push(...compared.metrics);
        absolute.push(...compared.absolute, ...(await countedOf(postgres, work)));
      }
      const webhooks = await webhooksOf(postgres, options);
      return { metrics: [...metrics, ...webhooks.metrics], absolute: [...absolute, ...webhooks.absolute] };
    } finally {
      await postgres.stop();
    }
  },
};
