import { get, LABEL_IDS, labels, world } from "../harness/data.ts";
import type { LoadRequest } from "../harness/load.ts";
import { againstFloor, type Bench } from "../harness/report.ts";
import { checkSameResponse } from "../harness/responses.ts";
import { alternate } from "../harness/rounds.ts";
import { startFloor, startPlaza } from "../harness/server.ts";

/** The number of labels, which is the limit for a page (D-40). */
const LABELS = 5_000;
const CONNECTIONS = 32;

export const bench: Bench = {
  summary: `\`GET /v26.0/{label}?fields=id,page_label_name\` with all three credentials, for a random one of ${LABELS} labels, over ${CONNECTIONS} connections. The reference program runs two prepared queries for each request.`,
  async run(options) {
    const plaza = await startPlaza({ world: world({ labels: [...labels(LABELS)] }) });
    const floor = await startFloor("node", { given: LABELS });
    try {
      const request: LoadRequest = { ...get(`${LABEL_IDS}{number}?fields=id,page_label_name`), number: { kind: "random", first: 0, amount: LABELS } };
      await checkSameResponse(plaza, floor, request);
      const requestOf = () => request;
      const pairs = await alternate({ server: plaza, requestOf }, { server: floor, requestOf }, { ...options, connections: CONNECTIONS });
      return againstFloor(pairs, 0.8);
    } finally {
      await Promise.all([plaza.stop(), floor.stop()]);
    }
  },
};
