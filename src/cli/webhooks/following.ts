/** `plaza listen` outlives its server: it says that the server has ended, and goes on with the one that comes in its place. */
import { ConfigProblem } from "#config/config";
import { readEvents } from "#control-contract/event-stream";
import { sleepMs } from "#system";
import { type ControlRequests, controlRequests, resultOf } from "../control-client.ts";

/** A restart takes less than a second. */
const TRY_EVERY_MS = 1_000;
const UNAVAILABLE = 500;

interface Following {
  /** Options of the command: which server it is, looked up anew each time, since its port may be another one. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  tell(line: string): void;
  /** It was away, and may hold another world now. */
  onBack(control: ControlRequests): Promise<void>;
}

/** Resolves after the signal. Rejects where the server refuses: the world or the app is gone, or the key is another one. */
export async function followServer(following: Following, first: ControlRequests): Promise<void> {
  const { signal, tell, onBack } = following;
  let control = first;
  while (!signal.aborted) {
    await connectionEnds(control, signal);
    let isSaid = false;
    for (let back = await findServer(following); !signal.aborted; back = await findServer(following)) {
      if (back !== undefined) {
        control = back;
        break;
      }
      if (!isSaid) tell("the server has ended; waiting until it is back, Ctrl-C ends");
      isSaid = true;
      await sleepMs(TRY_EVERY_MS);
    }
    if (signal.aborted) return;
    if (isSaid) {
      await onBack(control);
      tell("the server is back");
    }
    // One that is about to end still takes connections, and ends them at once.
    await sleepMs(TRY_EVERY_MS);
  }
}

/** A stream on which little comes, for its end. */
async function connectionEnds(control: ControlRequests, signal: AbortSignal): Promise<void> {
  try {
    const response = await control.send(`${control.world}/alerts`, { headers: { accept: "text/event-stream" }, signal });
    if (response.ok) for await (const _ of readEvents(response));
  } catch {
    // However it ends, what comes next finds out why.
  }
}

/** Undefined: it does not respond, or not yet. */
async function findServer({ given, signal }: Following): Promise<ControlRequests | undefined> {
  try {
    const control = await controlRequests(given);
    const response = await control.send(`${control.world}/clock`, { signal });
    if (response.status < UNAVAILABLE) await resultOf(response);
    return response.ok ? control : undefined;
  } catch (error) {
    if (error instanceof ConfigProblem || signal.aborted) return undefined;
    throw error;
  }
}
