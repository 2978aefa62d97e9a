/** The newest webhooks of a world as server-sent events (WHATWG HTML, 9.2): at once, and whenever something about them changes. */
import type { World } from "#graph/worlds/world";
import { listDeliveries } from "#webhooks/history/list.store";
import { type DeliveryView, viewOf } from "#webhooks/history/view";

export const EVENT_STREAM = "text/event-stream";

/** As many as a person sees at a glance. */
export const NEWEST = 20;
const LOOK_EVERY_MS = 500;
/** A comment keeps the connection open; common proxies close it after 60 s without a byte. */
const HEARTBEAT_EVERY = 50;

export function followDeliveries({ database }: World, shown: (view: DeliveryView) => unknown): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let last = "";
  let looks = 0;
  let isLooking = false;
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const look = async (): Promise<void> => {
        const { rows } = await listDeliveries(database.reader, {}, { limit: NEWEST });
        const text = JSON.stringify({ data: rows.map((row) => shown(viewOf(row))) });
        if (text !== last) controller.enqueue(encoder.encode(`event: deliveries\ndata: ${text}\n\n`));
        else if (++looks % HEARTBEAT_EVERY === 0) controller.enqueue(encoder.encode(": still there\n\n"));
        last = text;
      };
      await look();
      // A timer, because other processes send webhooks too.
      timer = setInterval(() => {
        if (isLooking) return;
        isLooking = true;
        look()
          // The database cannot be reached, or the connection has just ended: the reader connects again.
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
