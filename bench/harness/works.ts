/** The requests that several benches measure, each with the world that it needs. */
import { get, LABEL_IDS, labels, PAGE, personas, post, world } from "./data.ts";
import { eventsRequest, eventsWorld, REQUESTS_PER_ROUND } from "./events.ts";
import type { LoadRequest } from "./load.ts";

const PERSONAS = 10_000;
/** The number of labels, which is the limit for a page (D-40). */
const LABELS = 5_000;

export interface Work {
  readonly name: string;
  readonly world: unknown;
  readonly given: { readonly personaCount: number; readonly labelCount: number };
  /** The number of requests after which the compiler has optimized the code. */
  readonly warmUp: number;
  requestOf(round: number): LoadRequest;
}

export const works: readonly Work[] = [
  {
    name: "read",
    warmUp: 50_000,
    world: world({ personas: [...personas(PERSONAS)] }),
    given: { personaCount: PERSONAS, labelCount: 0 },
    requestOf: () => get(`${PAGE}/personas?limit=5`),
  },
  {
    name: "node",
    warmUp: 50_000,
    world: world({ labels: [...labels(LABELS)] }),
    given: { personaCount: 0, labelCount: LABELS },
    requestOf: () => ({ ...get(`${LABEL_IDS}{number}?fields=id,page_label_name`), number: { kind: "random", first: 0, amount: LABELS } }),
  },
  {
    name: "write",
    warmUp: 50_000,
    world: world(),
    given: { personaCount: 0, labelCount: 0 },
    requestOf: (round) => ({
      ...post(`${PAGE}/custom_labels`, '{"page_label_name":"label {number}"}'),
      number: { kind: "counted", first: 1 + round * REQUESTS_PER_ROUND },
    }),
  },
  {
    name: "events-1",
    warmUp: 50_000,
    world: eventsWorld,
    given: { personaCount: 0, labelCount: 0 },
    requestOf: (round) => eventsRequest(1, 1 + round * REQUESTS_PER_ROUND),
  },
  {
    name: "events-50",
    warmUp: 2_000,
    world: eventsWorld,
    given: { personaCount: 0, labelCount: 0 },
    requestOf: (round) => eventsRequest(50, 1 + round * REQUESTS_PER_ROUND),
  },
];
