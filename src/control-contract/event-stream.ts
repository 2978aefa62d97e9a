/** Server-sent events (WHATWG HTML, 9.2) as the response to a request that asks for them. */
import type { ControlRequest } from "./route.ts";

export const EVENT_STREAM = "text/event-stream";

/** Shorter than the 60 s after which common proxies close an idle connection. */
const HEARTBEAT_MS = 25_000;
/** A reader that is so many pieces behind has stopped reading: its stream ends, so that memory stays bounded. */
const BEHIND_MAX = 1_000;

export const wantsEvents = (request: ControlRequest): boolean => request.header("accept")?.includes(EVENT_STREAM) === true;

export type SendEvent = (event: string, value: unknown) => void;

/** `begin` is given how to send, and returns what ends it. The stream ends with its reader, and with the server. */
export function eventStream({ deps }: ControlRequest, begin: (send: SendEvent) => () => void): Response {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (): void => {
        stop();
        controller.close();
      };
      const write = (text: string): void => {
        if ((controller.desiredSize ?? 0) < -BEHIND_MAX) end();
        else controller.enqueue(encoder.encode(text));
      };
      write(": listening\n\n");
      const endSending = begin((event, value) => write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`));
      // A timer because only bytes on the connection show a proxy, and this server, that it is still in use.
      const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
      stop = () => {
        clearInterval(heartbeat);
        endSending();
        deps.ending?.removeEventListener("abort", end);
      };
      if (deps.ending?.aborted === true) end();
      else deps.ending?.addEventListener("abort", end);
    },
    cancel: () => stop(),
  });
  return new Response(body, { headers: { "content-type": EVENT_STREAM, "cache-control": "no-store" } });
}
