/** Server-sent events (WHATWG HTML, 9.2) as the response to a request that asks for them. */
import type { ControlRequest } from "./route.ts";

export const EVENT_STREAM = "text/event-stream";

/** Shorter than the 60 s after which common proxies close an idle connection. */
const HEARTBEAT_MS = 25_000;
/** A reader that is so far behind has stopped reading: its stream ends, so that memory stays bounded. A thousand small pieces, or some large ones. */
const BEHIND_BYTES_MAX = 1_024_000;
/** What a piece costs beside its bytes, and more. */
const PIECE_BYTES_MIN = 1_024;

export const wantsEvents = (request: ControlRequest): boolean => request.header("accept")?.includes(EVENT_STREAM) === true;

/** `id`: what a reader that comes back says it has (`Last-Event-ID`). */
export type SendEvent = (event: string, value: unknown, id?: number) => void;

/**
 * `begin` is given how to send and how to end, and returns what ends its own work. The stream ends with its reader, with one that stopped
 * reading, and with the server. `id`: where the reader is before the first event.
 */
export function eventStream({ deps }: ControlRequest, begin: (send: SendEvent, end: () => void) => () => void, id?: number): Response {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    let isOver = false;
    let endSending = (): void => {};
    const end = (): void => {
      if (isOver) return;
      stop();
      controller.close();
    };
    const write = (text: string): void => {
      if (isOver) return;
      if ((controller.desiredSize ?? 0) < -BEHIND_BYTES_MAX) end();
      else controller.enqueue(encoder.encode(text));
    };
    // A timer because only bytes on the connection show a proxy, and this server, that it is still in use.
    const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
    stop = () => {
      isOver = true;
      clearInterval(heartbeat);
      deps.ending.removeEventListener("abort", end);
      endSending();
    };
    write(`: listening\n${lineOfId(id)}\n`);
    endSending = begin((event, value, of) => write(`event: ${event}\n${lineOfId(of)}data: ${JSON.stringify(value)}\n\n`), end);
    if (isOver) endSending();
    else if (deps.ending.aborted) end();
    else deps.ending.addEventListener("abort", end);
  };
  const body = new ReadableStream<Uint8Array>(
    { start, cancel: () => stop() },
    { highWaterMark: 0, size: (piece?: Uint8Array) => Math.max(PIECE_BYTES_MIN, piece?.byteLength ?? 0) },
  );
  return new Response(body, { headers: { "content-type": EVENT_STREAM, "cache-control": "no-store" } });
}

/** How a piece of work goes on, and at last how it ended; it goes on without a reader, too. */
export const progressStream = (
  request: ControlRequest,
  work: (onProgress: (done: number, total: number) => void) => Promise<{ readonly event: "result" | "error"; readonly value: unknown }>,
): Response =>
  eventStream(request, (send, end) => {
    void work((done, total) => send("progress", { done, total })).then(({ event, value }) => {
      send(event, value);
      end();
    });
    return () => {};
  });

/** Reads such a stream: the event's name, and its data, which is JSON. */
export async function* readEvents<Value>(response: Response): AsyncGenerator<{ readonly event: string; readonly value: Value }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield { event: /^event: (.*)$/m.exec(event)?.[1] ?? "message", value: JSON.parse(data) as Value };
    }
  }
}

const lineOfId = (id: number | undefined): string => (id === undefined ? "" : `id: ${id}\n`);

export interface Watched {
  /** The name of its events. */
  readonly event: string;
  /** It is looked at so often, one look at a time. */
  readonly everyMs: number;
  /** What there is now; undefined: nothing any more, and the stream ends. */
  look(): Promise<unknown>;
}

/**
 * Looks at once and then so often, one look at a time; `tell` hears of what has changed. A look that fails, or finds nothing any more, is the end for
 * `fail`, which may let it go on. Returns what ends it.
 */
export function lookRepeatedly({ everyMs, look }: Omit<Watched, "event">, tell: (seen: unknown) => void, fail: () => void): () => void {
  let last = "";
  let isLooking = false;
  const lookAgain = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const seen = await look();
      const text = JSON.stringify(seen);
      if (seen === undefined) fail();
      else if (text !== last) tell(seen);
      last = text;
    } catch {
      fail();
    } finally {
      isLooking = false;
    }
  };
  void lookAgain();
  // A timer because what is looked at may change in another process.
  const timer = setInterval(() => void lookAgain(), everyMs);
  return () => clearInterval(timer);
}

/** What is looked at, as events. A look that fails ends the stream: the reader connects again. */
export const watchStream = (request: ControlRequest, { event, ...watched }: Watched): Response =>
  eventStream(request, (send, end) => lookRepeatedly(watched, (seen) => send(event, seen), end));
