/** Responds with server-sent events (WHATWG HTML, 9.2) to requests that ask for such events. */
import type { ControlRequest } from "./route.ts";

export const EVENT_STREAM = "text/event-stream";

/** The pause between two heartbeats of a stream. Common proxies close an idle connection after 60 s. */
const HEARTBEAT_MS = 25_000;
/**
 * The greatest number of bytes that wait for a reader. If more bytes wait for a reader, the stream ends, so that memory stays bounded. A
 * thousand small events, or a few large events, fill this limit.
 */
const BEHIND_BYTES_MAX = 1_024_000;
/** Each event counts as at least this number of bytes, because an event also takes memory besides its bytes. */
const PIECE_BYTES_MIN = 1_024;

export const wantsEvents = (request: ControlRequest): boolean => request.header("accept")?.includes(EVENT_STREAM) === true;

/** Sends an event. A reader that connects again sends the last `id` that it got as `Last-Event-ID`. */
export type SendEvent = (event: string, value: unknown, id?: number) => void;

/**
 * Responds with a stream of events. `begin` gets a function that sends an event and a function that ends the stream; `begin` returns a
 * function that stops the sending. The stream ends when its reader disconnects or stops reading, and when the server ends. `id` is the id of
 * the last event that the reader got before this stream.
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
    // A timer sends heartbeats, because a proxy closes a connection on which no bytes are sent.
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

/** Streams the progress of some work as events, and at the end the result of the work. If the reader of the stream disconnects, the work goes on. */
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

/** Reads a stream of server-sent events: the name of each event, and its data, which must be JSON. */
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
  /** The name of the stream's events. */
  readonly event: string;
  /** The pause between two reads of the value. */
  readonly everyMs: number;
  /** Reads the current value. A stream ends when `look` returns undefined. */
  look(): Promise<unknown>;
}

/**
 * Reads a value at once and afterwards at intervals, one read at a time. `tell` is called with each changed value. If a read fails or
 * returns undefined, `fail` is called, and the next read still follows. The returned function ends the repeated reads.
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
  // A timer reads the value, because another process may change the value without telling this process.
  const timer = setInterval(() => void lookAgain(), everyMs);
  return () => clearInterval(timer);
}

/** Sends a value as an event whenever the value changes. If reading the value fails, the stream ends, and the reader connects again. */
export const watchStream = (request: ControlRequest, { event, ...watched }: Watched): Response =>
  eventStream(request, (send, end) => lookRepeatedly(watched, (seen) => send(event, seen), end));
