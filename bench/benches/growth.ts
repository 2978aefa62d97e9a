import { get, LABEL_IDS, PAGE, PEOPLE_IDS, PERSONA_IDS } from "../harness/data.ts";
import { startFilledPlaza } from "../harness/fill.ts";
import type { LoadRequest } from "../harness/load.ts";
import { absolutesOf, type Bench, type Result } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { alternate, overRounds } from "../harness/rounds.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
const CONNECTIONS = 32;

/** The number of nodes in the data. Half of the nodes are labels and half are personas; each tenth label is on a person. */
const amounts = (nodes: number) => ({ labels: nodes / 2, personas: nodes / 2, people: nodes / 20 });

const among = (amount: number): NonNullable<LoadRequest["number"]> => ({ kind: "random", first: 0, amount });

/** One request for each way to read. A read of one node chooses a node at random. */
const reads: readonly { readonly name: string; requestOf(nodes: number): LoadRequest }[] = [
  { name: "list of labels", requestOf: () => get(`${PAGE}/custom_labels?limit=25`) },
  { name: "list of personas", requestOf: () => get(`${PAGE}/personas?limit=25`) },
  { name: "label", requestOf: (nodes) => ({ ...get(`${LABEL_IDS}{number}`), number: among(amounts(nodes).labels) }) },
  { name: "persona", requestOf: (nodes) => ({ ...get(`${PERSONA_IDS}{number}`), number: among(amounts(nodes).personas) }) },
  { name: "labels of a person", requestOf: (nodes) => ({ ...get(`${PEOPLE_IDS}{number}/custom_labels`), number: among(amounts(nodes).people) }) },
];

export const bench: Bench = {
  summary: `Compares every kind of read on a server with ${LARGE.toLocaleString("en")} nodes to the same read on a server with ${SMALL.toLocaleString("en")} nodes, over ${CONNECTIONS} connections. Reads of single nodes choose a random node.`,
  async run(options) {
    const small = await startFilledPlaza(amounts(SMALL));
    const large = await startFilledPlaza(amounts(LARGE));
    const parts: Result[] = [];
    try {
      for (const { name, requestOf } of reads) {
        const requests = { small: requestOf(SMALL), large: requestOf(LARGE) };
        for (const [server, request] of [[small, requests.small] as const, [large, requests.large] as const]) {
          const { status, text } = await ask(server, request);
          if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
        }
        const pairs = await alternate(
          { server: small, requestOf: () => requests.small },
          { server: large, requestOf: () => requests.large },
          { ...options, connections: CONNECTIONS },
        );
        parts.push({
          metrics: [
            {
              name: `${name}: time per request (large divided by small)`,
              ...overRounds(pairs, ({ one, other }) => one.requests_per_second / other.requests_per_second),
              goal: { at_most: 1.3 },
            },
            {
              name: `${name}: CPU time per request (large divided by small)`,
              ...overRounds(pairs, ({ one, other }) => other.server_cpu_us / one.server_cpu_us),
            },
          ],
          absolute: absolutesOf(pairs, `${name}, small`, `${name}, large`).filter((line) => !line.name.includes("client CPU")),
        });
      }
    } finally {
      await Promise.all([small.stop(), large.stop()]);
    }
    return { metrics: parts.flatMap(({ metrics }) => metrics), absolute: parts.flatMap(({ absolute }) => absolute) };
  },
};
