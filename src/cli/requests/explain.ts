/** `plaza explain`: explains the response to a request of the graph. */
import { explained, type Recorded } from "#control/client/explained";
import { type Given, withServer } from "../control-client.ts";
import { printable, say } from "../terminal/output.ts";

export const explain = (trace: string, given: Given): Promise<number> =>
  withServer(given, async (control) => {
    const found: Recorded = await control.request("GET", `requests/${encodeURIComponent(trace)}`);
    if (given.json === true) say(JSON.stringify(found, undefined, 2));
    else for (const line of await explained(control, found)) say(printable(line));
    return 0;
  });
