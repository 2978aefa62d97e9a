/** `plaza status`: shows whether a server runs, and describes it. */
import type { ControlRequests } from "#control/client/requests";
import { statusLines, statusOf } from "#control/client/status";
import { type Given, withServer } from "../control-client.ts";
import { FAILED, printable, say } from "../terminal/output.ts";

/**
 * Prints the status. Resolves with 0 if a server runs and is ready, with 1 if the server is not ready, and with 2 if no server can be found (D-339).
 */
export function status(given: Given): Promise<number> {
  const show = async (control: ControlRequests): Promise<number> => {
    const found = await statusOf(control);
    if (given.json === true) say(JSON.stringify(found));
    else for (const line of statusLines(found)) say(printable(line));
    return found.ready ? 0 : FAILED;
  };
  return withServer(given, show);
}
