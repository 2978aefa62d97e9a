/** `plaza clock next`: moves the clock to the time of the next due work. */
import { moveToNextDeadline } from "#control/client/next-deadline";
import { show } from "../ask-route.ts";
import { type Given, withServer } from "../control-client.ts";
import { fail } from "../terminal/output.ts";

export const clockNext = (given: Given): Promise<number> =>
  withServer(given, async (control) => {
    const moved = await moveToNextDeadline(control);
    return moved === undefined ? fail("nothing falls due") : show(moved, given);
  });
