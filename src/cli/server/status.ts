/** `plaza status`: shows whether a server runs, and describes it. */
import type { ControlRequests } from "#control/client/requests";
import { statusLines, statusOf } from "#control/client/status";
import { type Given, NO_SERVER, withServer } from "../control-client.ts";
import { FAILED, fail, printable, say } from "../terminal/output.ts";

/** Prints the status. Resolves with 0 if a server runs and is ready. */
export function status(given: Given): Promise<number> {
  const show = async (control: ControlRequests): Promise<number> => {
    const found = await statusOf(control);
    if (given.json === true) say(JSON.stringify(found));
    else for (const line of statusLines(found)) say(printable(line));
    return found.ready ? 0 : FAILED;
  };
  return withServer(given, show, () => fail(NO_SERVER));
}
