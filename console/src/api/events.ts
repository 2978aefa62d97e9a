/** Reads server-sent events with the control key in a header: the browser's own EventSource cannot send the header (WHATWG HTML, 9.2). */
import { authorization, refused } from "./client.ts";
import { inPlace } from "./places.ts";

export interface ServerEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Yields the server-sent events of one connection. The iteration rejects with the error that ends the connection. */
export async function* serverEvents(address: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await fetch(address, { headers: { ...authorization(), accept: "text/event-stream" }, signal });
  if (!response.ok || response.body === null) {
    refused(response.status);
    throw new Error(`the stream responded with ${response.status}`);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) yield eventOf(block);
  }
}

function eventOf(block: string): ServerEvent {
  let name = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [field, ...rest] = line.split(": ");
    const value = rest.join(": ");
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return { name, id, data: data.join("\n") };
}

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 10_000;
/** This pause is short, because a person waits at a page that says that the server is gone. */
const GONE_RETRY_MS_MAX = 1_000;

/**
 * Resolves with whether the server cannot be reached. This request does not wait for one of the connections for streams: after a restart
 * other windows may use all of them, and this window would not notice that the server is back.
 */
const isServerGone = (signal: AbortSignal): Promise<boolean> =>
  fetch("/healthz", { signal }).then(
    () => false,
    () => true,
  );

/** `waiting`: other windows of the console use all connections that streams may have. `gone`: the console cannot connect to the server. */
export type StreamState = "live" | "waiting" | "lost" | "gone";

export interface StreamListener {
  /** Returns the address of the stream that begins after the event with the given id. */
  address(after: string | undefined): string;
  /** Called with each event that has data; comments and empty events are left out. */
  take(event: ServerEvent): void;
  state(now: StreamState): void;
  /** Called at the first connection, so that the listener reads its list again: events may have come since the listener last read the list. */
  connected?(): void;
}

/**
 * Stays connected to a stream of events while the tab is visible, and resumes the stream after the last event. Returns a
 * function that ends the connection.
 */
export function follow({ address, take, state, connected }: StreamListener): () => void {
  let last: string | undefined;
  let connection: AbortController | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retryMs = RETRY_MS_MIN;
  let wasConnected = false;
  const read = async (signal: AbortSignal): Promise<void> => {
    for await (const event of serverEvents(address(last), signal)) {
      retryMs = RETRY_MS_MIN;
      state("live");
      if (!wasConnected) connected?.();
      wasConnected = true;
      last = event.id ?? last;
      if (event.data !== "") take(event);
    }
  };
  const open = async (insists: boolean, wasGone = false): Promise<void> => {
    const own = new AbortController();
    connection = own;
    let isGone = wasGone && (await isServerGone(own.signal));
    // An error of a stream only ends the connection: `follow` connects again after a pause. `fetch` throws a TypeError
    // if the server cannot be reached.
    const work = (signal: AbortSignal): Promise<void> =>
      read(signal).catch((error: unknown) => {
        isGone = error instanceof TypeError;
      });
    if (!isGone) await inPlace({ signal: own.signal, insists, waits: () => state("waiting"), work });
    if (own.signal.aborted) return;
    state(isGone ? "gone" : "lost");
    // A retry does not take a connection from another window, because two such windows would take connections from each other for ever.
    retry = setTimeout(() => void open(false, isGone), retryMs);
    retryMs = Math.min(2 * retryMs, isGone ? GONE_RETRY_MS_MAX : RETRY_MS_MAX);
  };
  const close = (): void => {
    clearTimeout(retry);
    connection?.abort();
    state("lost");
  };
  const shown = (): void => {
    close();
    if (document.visibilityState === "visible") void open(true);
  };
  document.addEventListener("visibilitychange", shown);
  shown();
  return () => {
    document.removeEventListener("visibilitychange", shown);
    close();
  };
}
