/** The live state of a video as server-sent events (WHATWG HTML, 9.2): at once, and whenever it changes, until the video is deleted. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { readLiveState } from "../lifecycle/control-transitions.ts";

export const EVENT_STREAM = "text/event-stream";

/** The health of a feed is as new. */
const LOOK_EVERY_MS = 1_000;
/** A comment keeps the connection open; common proxies close it after 60 s without a byte. */
const HEARTBEAT_EVERY = 25;

export function followState(world: World, id: NodeId): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let last = "";
  let looks = 0;
  let isLooking = false;
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const end = (): void => {
        clearInterval(timer);
        controller.close();
      };
      const look = async (): Promise<void> => {
        const state = await readLiveState(world, id);
        if (state === undefined) {
          end();
          return;
        }
        const text = JSON.stringify(state);
        if (text !== last) controller.enqueue(encoder.encode(`event: state\ndata: ${text}\n\n`));
        else if (++looks % HEARTBEAT_EVERY === 0) controller.enqueue(encoder.encode(": still there\n\n"));
        last = text;
      };
      await look();
      // A timer because the state may change in another process, and the health in no database.
      timer = setInterval(() => {
        if (isLooking) return;
        isLooking = true;
        look()
          // The database cannot be reached, or the connection has just ended: the listener connects again.
          .catch((error: unknown) => {
            clearInterval(timer);
            controller.error(error);
          })
          .finally(() => {
            isLooking = false;
          });
      }, LOOK_EVERY_MS);
    },
    cancel: () => clearInterval(timer),
  });
}
