/** `plaza clock next`: moves the world's clock to the time at which the next work is due. */
import { moveToNextDeadline } from "#control/client/next-deadline";
import { show } from "../ask-route.ts";
import { type Given, withServer } from "../control-client.ts";
import { fail } from "../terminal/output.ts";

export const clockNext = (given: Given): Promise<number> =>
  withServer(given, async (control) => {
    const moved = await moveToNextDeadline(control);
    return moved === undefined ? fail("the world has no further deadline") : show(moved, given);
  });
