/**
 * Finds a request in the logs of several processes (D-358). Each process logs the requests that it has served. If a process does not have a requested
 * log entry, it invalidates a fact, which notifies all processes on the database. The process that has the log entry writes it into a table, from
 * which the first process reads it.
 */
import { within } from "#kernel/turns";
import { passRequest, removeRequest, takeRequest } from "./passed-requests.store.ts";
import type { RequestEntry } from "./request-log.ts";
import type { World } from "./world.ts";

const ASKED = "request_asked";
const PASSED = "request_passed";

/** Matches the text of a trace id. Texts that are not trace ids are not searched for. */
const TRACE_ID = /^[A-Za-z0-9_-]{11,64}$/;
/**
 * The time for which a process waits for another process's answer. `TRIES` is the number of times that a process asks the others, because they may
 * miss a notification.
 */
const ANSWERED_WITHIN_MS = 750;
const TRIES = 4;
/** The time after which an answer that no process has read is deleted. */
const KEPT_MS = 10_000;

/** Whether several processes may use the world's data, which is possible only on PostgreSQL. */
const isShared = ({ database }: Pick<World, "database">): boolean => database.dialect === "postgres";

/**
 * Answers other processes that search for a request in the logs. `onError` is called if answering another process fails. Returns a function that
 * stops answering other processes, for a world that is closed.
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
    // A timer deletes the row with the answer, because the process that asked may have ended without reading it.
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

/** Finds the log entry of a request that any process has served. */
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
