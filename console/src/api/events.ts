/** Server-sent events with the key in a header, which the browser's own EventSource cannot send (WHATWG HTML, 9.2). */
import { authorization, refused } from "./client.ts";

export interface ServerEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** The events of one connection. Rejects with what ends it. */
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

export interface StreamListener {
  /** The address of the stream, for events after an id. */
  address(after: string | undefined): string;
  /** Called with events that hold data alone. */
  take(event: ServerEvent): void;
  /** Whether it is connected now. */
  state(isLive: boolean): void;
}

/** Stays connected while the tab shows, and goes on where it was. Returns what ends it. */
export function follow({ address, take, state }: StreamListener): () => void {
  let last: string | undefined;
  let connection: AbortController | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let retryMs = RETRY_MS_MIN;
  const open = async (): Promise<void> => {
    const own = new AbortController();
    connection = own;
    try {
      for await (const event of serverEvents(address(last), own.signal)) {
        retryMs = RETRY_MS_MIN;
        state(true);
        last = event.id ?? last;
        if (event.data !== "") take(event);
      }
    } catch {
      // Tried again below.
    }
    if (own.signal.aborted) return;
    state(false);
    retry = setTimeout(() => void open(), retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  };
  const close = (): void => {
    clearTimeout(retry);
    connection?.abort();
    state(false);
  };
  const shown = (): void => {
    close();
    if (document.visibilityState === "visible") void open();
  };
  document.addEventListener("visibilitychange", shown);
  shown();
  return () => {
    document.removeEventListener("visibilitychange", shown);
    close();
  };
}
