import { PAGE, post, world } from "../harness/data.ts";
import type { LoadRequest } from "../harness/load.ts";
import { againstFloor, type Bench } from "../harness/report.ts";
import { checkSameResponse } from "../harness/responses.ts";
import { alternate } from "../harness/rounds.ts";
import { LABELS_UNLIMITED, startFloor, startPlaza } from "../harness/server.ts";

const CONNECTIONS = 64;
/** The number of label names. A round uses fewer label names, so each name is used once. */
const NAMES_PER_ROUND = 4_000_000;

const requestOf = (round: number): LoadRequest => ({
  ...post(`${PAGE}/custom_labels`, '{"page_label_name":"label {number}"}'),
  number: { kind: "counted", first: 1 + round * NAMES_PER_ROUND },
});

export const bench: Bench = {
  summary: `\`POST /v26.0/{page}/custom_labels\`, over ${CONNECTIONS} connections; each new label is durable before its response. The reference program runs one prepared insert in a savepoint for each request, and commits all waiting inserts together.`,
  async run(options) {
    const plaza = await startPlaza({ world: world(), settings: LABELS_UNLIMITED });
    const floor = await startFloor("write");
    try {
      await checkSameResponse(plaza, floor, { ...requestOf(0), number: { kind: "counted", first: 0 } });
      const pairs = await alternate({ server: plaza, requestOf }, { server: floor, requestOf }, { ...options, connections: CONNECTIONS });
      return againstFloor(pairs, 0.65);
    } finally {
      await Promise.all([plaza.stop(), floor.stop()]);
    }
  },
};
