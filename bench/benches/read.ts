import { get, PAGE, personas, world } from "../harness/data.ts";
import { againstFloor, type Bench } from "../harness/report.ts";
import { checkSameResponse } from "../harness/responses.ts";
import { alternate } from "../harness/rounds.ts";
import { startFloor, startPlaza } from "../harness/server.ts";

const PERSONAS = 10_000;
const CONNECTIONS = 32;

export const bench: Bench = {
  summary: `\`GET /v26.0/{page}/personas?limit=5\` with all three credentials, on a page with ${PERSONAS} personas, over ${CONNECTIONS} connections. The reference program runs three prepared queries and joins the response from strings.`,
  async run(options) {
    const plaza = await startPlaza({ world: world({ personas: [...personas(PERSONAS)] }) });
    const floor = await startFloor("list", { given: PERSONAS });
    try {
      const request = get(`${PAGE}/personas?limit=5`);
      await checkSameResponse(plaza, floor, request);
      const requestOf = () => request;
      const pairs = await alternate({ server: plaza, requestOf }, { server: floor, requestOf }, { ...options, connections: CONNECTIONS });
      return againstFloor(pairs, 0.8);
    } finally {
      await Promise.all([plaza.stop(), floor.stop()]);
    }
  },
};
