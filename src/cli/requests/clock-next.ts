/** `plaza clock next`: moves the clock to the time of the next due work. */
import { show } from "../ask-route.ts";
import { type Given, withServer } from "../control-client.ts";
import { fail } from "../terminal/output.ts";

export function clockNext(given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const [next] = (await control.request("GET", "clock/deadlines")).data as readonly { time: number; kind: string; of: string }[];
    if (next === undefined) return fail("nothing falls due");
    const { now } = await control.request("GET", "clock");
    const clock = await control.request("PUT", "clock", { now: Math.max(now, Math.ceil(next.time)) });
    return show({ ...clock, due: next }, given);
  });
}
