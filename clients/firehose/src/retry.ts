/** Repeats a failed request to Plaza or to the brokers until it succeeds. */
import { type Report, say, textOf } from "./report.ts";

/** An error that would occur again in each retry. After this error the program prints the message of the error and ends. */
export class Fatal extends Error {}

/**
 * The first wait is short, because most failures come from a server that restarts. The longest wait is short, so that the copy continues soon after
 * an outage.
 */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

export interface Retries {
  readonly report: Report;
  readonly ending: AbortSignal;
  /** Whether an error would occur again in each retry. */
  isFinal(error: unknown): boolean;
}

/** Calls `work`, and calls it again while it fails. Rejects with an error for which `isFinal` returns true, or when the program ends. */
export async function untilDone<T>(what: string, work: () => Promise<T>, { report, ending, isFinal }: Retries): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (ending.aborted || isFinal(error)) throw error;
      report.failures++;
      say("warn", `${what} failed and is tried again: ${textOf(error)}`, { retry_in_ms: waitMs });
      await pause(waitMs, ending);
      ending.throwIfAborted();
    }
  }
}

/** Resolves after some time, or earlier if the program ends. */
export async function pause(ms: number, ending: AbortSignal): Promise<void> {
  if (ending.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = setTimeout(end, ms);
  ending.addEventListener("abort", end);
  await promise;
  clearTimeout(timer);
  ending.removeEventListener("abort", end);
}
