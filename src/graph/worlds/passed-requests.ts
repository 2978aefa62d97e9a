/**
 * The log of requests in several processes (D-358). Each process keeps the requests that it has served. A process that does not have a requested
 * entry asks the others with a fact, which reaches all processes on the database, and gets the entry through a table.
 */
import { within } from "#kernel/turns";
import { passRequest, removeRequest, takeRequest } from "./passed-requests.store.ts";
import type { RequestEntry } from "./request-log.ts";
import type { World } from "./world.ts";

const ASKED = "request_asked";
const PASSED = "request_passed";

/** The form of a trace id. Other texts are never looked for. */
const TRACE_ID = /^[A-Za-z0-9_-]{11,64}$/;
/** The wait for an answer, and how often a process asks: after a lost notification the others know only that anything may have changed. */
const ANSWERED_WITHIN_MS = 750;
const TRIES = 4;
/** The time after which an answer that nobody took is deleted. */
const KEPT_MS = 10_000;

/** Only PostgreSQL has data that several processes use. */
const isShared = ({ database }: Pick<World, "database">): boolean => database.dialect === "postgres";

/**
 * Answers other processes that ask for a request. `onError` gets the failure of an answer. Returns a function that ends this, for a world that is
 * closed.
 */
export function answerOtherProcesses(world: World, onError: (error: unknown) => void): () => void {
  if (!isShared(world)) return () => {};
  const { database, requests } = world;
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let isOver = false;
  const answer = async (traceId: string): Promise<void> => {
    const entry = requests.find(traceId);
    if (entry === undefined) return;
    await database.write(async (tx) => {
      await passRequest(tx, traceId, JSON.stringify(entry));
      tx.invalidate(PASSED, traceId);
    });
    if (isOver) return;
    // This is a timer, because the process that asked may have ended, and cannot say so.
    const timer = setTimeout(() => {
      timers.delete(timer);
      void database.write((tx) => removeRequest(tx, traceId)).catch(() => {});
    }, KEPT_MS);
    timers.add(timer.unref());
  };
  database.onInvalidate((kind, key) => {
    if (kind === ASKED && key !== undefined) answer(key).catch(onError);
  });
  return () => {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Finds a request that this or another process has served. */
export async function findRequest(world: World, traceId: string): Promise<RequestEntry | undefined> {
  const { database, requests } = world;
  const own = requests.find(traceId);
  if (own !== undefined || !isShared(world) || !TRACE_ID.test(traceId)) return own;
  const passed = Promise.withResolvers<void>();
  const forget = database.onInvalidate((kind, key) => {
    if (kind === PASSED && key === traceId) passed.resolve();
  });
  try {
    for (let count = 0; count < TRIES; count++) {
      await database.write(async (tx) => tx.invalidate(ASKED, traceId));
      await within(passed.promise, ANSWERED_WITHIN_MS);
      const entry = await database.write((tx) => takeRequest(tx, traceId));
      if (entry !== undefined) return JSON.parse(entry) as RequestEntry;
    }
  } finally {
    forget();
  }
  return undefined;
}
