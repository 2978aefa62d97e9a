import { get, PAGE, personas, post, world } from "../harness/data.ts";
import type { LoadRequest, Sample } from "../harness/load.ts";
import type { Absolute, Bench, Metric, Result } from "../harness/report.ts";
import { checkSameResponse } from "../harness/responses.ts";
import { rotate } from "../harness/rounds.ts";
import { LABELS_UNLIMITED, type Server, startFloor, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const PERSONAS = 10_000;
/** More names than a round can use up, so that none is used twice. */
const NAMES_PER_ROUND = 4_000_000;

interface Work {
  readonly name: string;
  readonly world: unknown;
  readonly settings: Readonly<Record<string, string>>;
  startFloor(): Promise<Server>;
  requestOf(round: number): LoadRequest;
  readonly connections: number;
}

const works: readonly Work[] = [
  {
    name: "read",
    world: world({ personas: [...personas(PERSONAS)] }),
    settings: {},
    startFloor: () => startFloor("list", { given: PERSONAS }),
    requestOf: () => get(`${PAGE}/personas?limit=5`),
    connections: 32,
  },
  {
    name: "write",
    world: world(),
    settings: LABELS_UNLIMITED,
    startFloor: () => startFloor("write"),
    requestOf: (round) => ({
      ...post(`${PAGE}/custom_labels`, '{"page_label_name":"label {number}"}'),
      number: { kind: "counted", first: 1 + round * NAMES_PER_ROUND },
    }),
    connections: 64,
  },
];

async function measure(work: Work, options: { readonly rounds: number; readonly seconds: number }): Promise<Result> {
  const own = await startPlaza({ world: work.world, settings: { ...work.settings, PLAZA_HTTP: "own" } });
  const node = await startPlaza({ world: work.world, settings: { ...work.settings, PLAZA_HTTP: "node" } });
  const floor = await work.startFloor();
  const servers = [own, node, floor];
  try {
    const first: LoadRequest = work.name === "write" ? { ...work.requestOf(0), number: { kind: "counted", first: 0 } } : work.requestOf(0);
    await checkSameResponse(own, floor, first);
    if (work.name === "read") await checkSameResponse(own, node, first);
    const sides = servers.map((server) => ({ server, requestOf: work.requestOf }));
    const rounds = await rotate(sides, { ...options, connections: work.connections });
    return resultOf(work.name, rounds as [Sample, Sample, Sample][]);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function resultOf(name: string, rounds: readonly [Sample, Sample, Sample][]): Result {
  const over = (metric: (own: Sample, node: Sample, floor: Sample) => number) => spreadOf(rounds.map((samples) => metric(...samples)));
  const metrics: Metric[] = [
    { name: `${name}: requests/s, own : floor`, ...over((own, _, floor) => own.requests_per_second / floor.requests_per_second) },
    { name: `${name}: requests/s, node:http : floor`, ...over((_, node, floor) => node.requests_per_second / floor.requests_per_second) },
    { name: `${name}: CPU a request, node:http − own`, unit: "µs", ...over((own, node) => node.server_cpu_us - own.server_cpu_us) },
  ];
  const absolute = ["own", "node:http", "floor"].flatMap((side, index): Absolute[] => [
    { name: `${name}, ${side}: requests/s`, unit: "/s", ...spreadOf(rounds.map((samples) => (samples[index] as Sample).requests_per_second)) },
    { name: `${name}, ${side}: server CPU a request`, unit: "µs", ...spreadOf(rounds.map((samples) => (samples[index] as Sample).server_cpu_us)) },
  ]);
  return { metrics, absolute };
}

export const bench: Bench = {
  summary: "the requests of `read` and `write` through both listeners, `--http own` and `--http node`, beside the floors of these benches, in turn.",
  async run(options) {
    const results: Result[] = [];
    for (const work of works) results.push(await measure(work, options));
    return { metrics: results.flatMap(({ metrics }) => metrics), absolute: results.flatMap(({ absolute }) => absolute) };
  },
};
