/** Sends a request until the server responds, with growing waits between the attempts. */
import { ConnectionError, GraphError } from "./errors.ts";
import type { HttpRequest } from "./request.ts";

export interface Attempts {
  /** The number of times that the client retries a request. Default: 3. */
  readonly retries?: number;
  /** The time limit of one attempt in milliseconds. Default: 30 000. */
  readonly timeoutMs?: number;
  /** The longest wait before a retry, in milliseconds. Default: 60 000. If a server asks for a longer wait, the client does not retry. */
  readonly waitMaxMs?: number;
  /** The function that sends requests. Default: `globalThis.fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The function that waits before a retry, which tests may replace. Default: a timer. */
  readonly wait?: (ms: number) => Promise<void>;
}

const FIRST_WAIT_MS = 500;
/** The statuses with which a proxy says that it cannot reach the server. */
const WITHOUT_SERVER: ReadonlySet<number> = new Set([502, 504]);

/** Returns the JSON of a successful response. Throws GraphError or ConnectionError, or the reason of the abort if `signal` is aborted. */
export async function responseOf(operation: string, sent: HttpRequest, attempts: Attempts, signal: AbortSignal | undefined): Promise<unknown> {
  const { retries = 3, waitMaxMs = 60_000 } = attempts;
  for (let retry = 0; ; retry++) {
    const outcome = await attempt(operation, sent, attempts, signal);
    if (!("error" in outcome)) return outcome.value;
    const waitMs = waitOf(outcome.error, retry);
    if (retry >= retries || !isWorthRetrying(outcome.error, sent.method) || waitMs > waitMaxMs) throw outcome.error;
    await pause(waitMs, attempts.wait, signal);
  }
}

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Keeps requests for this machine away from the proxy that the environment names: without this option of `fetch`, Bun would send the request and its
 * token to the proxy. Runtimes other than Bun ignore the option `proxy` of `fetch`.
 */
const directTo = (url: string): object => (LOOPBACK.test(new URL(url).hostname) ? { proxy: false } : {});

type Outcome = { readonly value: unknown } | { readonly error: GraphError | ConnectionError };

async function attempt(operation: string, { url, ...init }: HttpRequest, options: Attempts, signal: AbortSignal | undefined): Promise<Outcome> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error("timed out")), options.timeoutMs ?? 30_000);
  const abort = () => ending.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    const response = await (options.fetch ?? fetch)(url, { ...init, ...directTo(url), signal: ending.signal });
    const text = await response.text();
    const body = jsonOf(text);
    if (response.ok && body !== undefined) return { value: body };
    return { error: new GraphError(operation, response.status, body, retryAfterOf(response.headers)) };
  } catch (cause) {
    signal?.throwIfAborted();
    return { error: new ConnectionError(operation, ending.signal.aborted ? ending.signal.reason : cause) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the wait in milliseconds that the header `Retry-After` asks for. The value of the header is a number of seconds or a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Whether to retry the request. A write without a response may have happened, so the client repeats a write only if the server says that a
 * repetition is safe.
 */
function isWorthRetrying(error: GraphError | ConnectionError, method: string): boolean {
  if (error instanceof GraphError && error.isTransient) return true;
  return method === "GET" && (error instanceof ConnectionError || WITHOUT_SERVER.has(error.status));
}

/**
 * Returns the wait before a retry. Each wait is twice as long as the previous one. Half of the wait is random, so that clients that failed at the
 * same time do not retry at the same time.
 */
function waitOf(error: GraphError | ConnectionError, retry: number): number {
  const own = FIRST_WAIT_MS * 2 ** retry * (0.5 + Math.random() / 2);
  return error instanceof GraphError ? Math.max(error.retryAfterMs ?? 0, own) : own;
}

function pause(ms: number, wait: Attempts["wait"], signal: AbortSignal | undefined): Promise<void> {
  if (wait !== undefined) return wait(ms);
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
