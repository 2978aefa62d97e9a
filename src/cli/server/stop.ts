/** `plaza stop`: ends a server and waits until it has ended. */

import type { ControlRequests } from "#control/client/requests";
import { isRunning } from "#storage/temporary-folder";
import { sleepMs } from "#system";
import { type Given, pidOnData, withServer } from "../control-client.ts";
import { directTo } from "../proxies.ts";
import { fail, note, say } from "../terminal/output.ts";

/** The time limit for the server's end after the drain: running requests have 10 s to end, and afterwards the server closes its data. */
const WITHIN_MS = 15_000;
const LOOK_MS = 50;

/** Ends the server. Resolves with 0 if no server runs after the command, even if no server ran before it. */
export function stop(given: Given): Promise<number> {
  return withServer(
    given,
    (control) => stopServer(control, given),
    () => {
      if (given.json === true) say(JSON.stringify({ pid: null }));
      else note("no server runs on the data");
      return 0;
    },
  );
}

async function stopServer(control: ControlRequests, given: Given): Promise<number> {
  const { pid, drain_delay_ms } = (await control.request("GET", "/v1/server")) as { pid: number; drain_delay_ms: number };
  const withinMs = drain_delay_ms + WITHIN_MS;
  // If the server runs on this machine, the command waits for the end of its process. If the server runs on another machine, the command can only
  // check the port.
  const isHere = (await pidOnData(given)) === pid;
  await control.request("POST", "/v1/server/stop");
  for (let waited = 0; waited < withinMs; waited += LOOK_MS) {
    if (!(isHere ? isRunning(pid) : await isListening(control.url))) {
      say(given.json === true ? JSON.stringify({ pid }) : `the server (process ${pid}) has ended`);
      return 0;
    }
    await sleepMs(LOOK_MS);
  }
  return fail(`the server (process ${pid}) has not ended within ${withinMs / 1000} s`);
}

const isListening = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`, directTo(url)).then(
    () => true,
    () => false,
  );
