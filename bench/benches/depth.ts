import { get, PAGE } from "../harness/data.ts";
import { startFilledPlaza } from "../harness/fill.ts";
import { absolutesOf, type Bench } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { alternate, overRounds } from "../harness/rounds.ts";
import type { Server } from "../harness/server.ts";

const ROW = 1_000_000;
/** The number of labels: large enough for a full page of labels after row `ROW`. */
const LABELS = ROW + 100;
/** The size of the pages on the way to row `ROW`: the largest page that the server allows (D-31). */
const STEP = 100;
const CONNECTIONS = 32;

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly paging: { readonly cursors: { readonly after: string } };
}

/** Reads pages by their cursors, as a client does. Throws if a row is missing, or is on two pages. Returns the cursor of row `ROW`. */
async function walk(server: Server): Promise<string> {
  let after = "";
  let last: string | undefined;
  for (let row = 0; row < ROW; row += STEP) {
    const response = await ask(server, get(`${PAGE}/custom_labels?limit=${STEP}${after}`));
    if (response.status !== 200) throw new Error(`row ${row}: ${response.status} ${response.text}`);
    const { data, paging } = JSON.parse(response.text) as List;
    for (const { id } of data) {
      if (last !== undefined && BigInt(id) !== BigInt(last) - 1n) throw new Error(`row ${row}: ${id} follows ${last}`);
      last = id;
    }
    if (data.length !== STEP) throw new Error(`row ${row}: a page of ${data.length}`);
    after = `&after=${paging.cursors.after}`;
  }
  return after;
}

export const bench: Bench = {
  summary: `\`GET /v26.0/{page}/custom_labels\`: compares the first page of the list with the page after row ${ROW.toLocaleString("en")}, over ${CONNECTIONS} connections. The bench follows the cursors to find the later page.`,
  async run(options) {
    const server = await startFilledPlaza({ labels: LABELS });
    try {
      const first = get(`${PAGE}/custom_labels?limit=25`);
      const deep = get(`${PAGE}/custom_labels?limit=25${await walk(server)}`);
      const { after } = (JSON.parse((await ask(server, first)).text) as List).paging.cursors;
      const second = get(`${PAGE}/custom_labels?limit=25&after=${after}`);
      const pairs = await alternate({ server, requestOf: () => first }, { server, requestOf: () => deep }, { ...options, connections: CONNECTIONS });
      const secondPairs = await alternate(
        { server, requestOf: () => second },
        { server, requestOf: () => deep },
        { ...options, connections: CONNECTIONS },
      );
      return {
        metrics: [
          {
            name: "time per request (deep divided by first page)",
            ...overRounds(pairs, ({ one, other }) => one.requests_per_second / other.requests_per_second),
            goal: { at_most: 1.2 },
          },
          {
            name: "CPU time per request (deep divided by first page)",
            ...overRounds(pairs, ({ one, other }) => other.server_cpu_us / one.server_cpu_us),
          },
          // The deep page is compared to the second page, because both read a cursor and have a link back. The difference between the two pages is
          // the cost of depth alone.
          {
            name: "CPU time per request (deep divided by second page)",
            ...overRounds(secondPairs, ({ one, other }) => other.server_cpu_us / one.server_cpu_us),
          },
        ],
        absolute: absolutesOf(pairs, "first page", "deep page"),
      };
    } finally {
      await server.stop();
    }
  },
};
