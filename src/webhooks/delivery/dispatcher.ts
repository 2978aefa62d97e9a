/**
 * Delivers webhooks in the turns of the world's loop. Each turn claims deliveries in one transaction. The results of attempts are stored in other
 * transactions, and no transaction is open while a request is under way.
 */
import type { WorkSession } from "#jobs/work-session";
import type { Turn, TurnEnd, WorkSource } from "#jobs/work-source";
import type { Transaction } from "#storage/database";
import type { HealthChange } from "../callbacks/health.ts";
import type { DeliveryDeps, WebhookDeps } from "../deps.ts";
import type { Stored } from "../events/emit.ts";
import { isAttempted, type Outcome } from "../observer.ts";
import { attemptDelivery } from "./attempt.ts";
import { withAttempts } from "./attempts.ts";
import { type Claimed, type Claims, claim, giveBackUnknown } from "./claims.ts";
import { findQueuesWithFirsts, findQueuesWithRetries, findSending, isBehindAnother, saveResults, WAITING } from "./deliveries.store.ts";
import { OverdueWatch } from "./overdue.ts";
import type { EndpointQueue } from "./queue/endpoint-queue.ts";
import { CLAIMED_MAX, EndpointQueues } from "./queue/endpoint-queues.ts";
import { ResultWriter, type StoredResult } from "./results.ts";

/** The interval at which a process searches a shared database for deliveries that other processes stored or did not finish. */
const LOOK_MS = 1_000;
/**
 * If an attempt fails before its request is sent, because the database cannot be reached or the program has a mistake, Plaza repeats the attempt
 * after this time.
 */
const AGAIN_MS = 1_000;

const BACK: Outcome = { kind: "back" };

export type DispatcherOptions = DeliveryDeps & Pick<WebhookDeps, "loop" | "jobs" | "observer" | "perSecondMax" | "hasLog">;

export class DeliveryDispatcher implements WorkSource {
  readonly #options: DispatcherOptions;
  readonly #queues: EndpointQueues;
  readonly #results: ResultWriter;
  /** Whether results could not be stored, so that the next turn stores them first. */
  #mustFlush = false;
  /** Whether results of attempts were stored since the last turn. */
  #hasStored = false;
  /** The ids of deliveries that are claimed and whose result is not stored. */
  readonly #held = new Set<string>();
  /** Whether a claim failed. The database may list the deliveries of a failed claim as claimed, if the connection broke after the commit. */
  #mayHoldMore = false;
  /** The number of deliveries that are claimed and whose attempt has not ended. */
  #unended = 0;
  #whenSettled: (() => void)[] = [];
  /**
   * The number of requested searches for waiting deliveries. A search is requested when the queues in memory may not know of all deliveries, for
   * example when the process starts.
   */
  #looksAsked = 1;
  #looksMade = 0;
  #lookedAtMs = 0;
  readonly #overdue = new OverdueWatch();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#queues = new EndpointQueues({ ...options, wakeIn: (ms) => options.loop.wakeIn(this, ms) });
    this.#results = new ResultWriter({ ...options, onStored: (result) => this.#stored(result), onHealth: (change) => this.#healthChanged(change) });
    options.loop.add(this);
  }

  /**
   * The fence for a delivery that is being stored and may be sent as soon as its transaction has committed, because its queue has capacity and no
   * delivery waits in the queue. The result is undefined if the delivery must wait for a claim, because another process could claim the delivery,
   * too.
   */
  fenceForNew(queue: string): number | undefined {
    const { loop } = this.#options;
    const fence = loop.session.soleFence;
    // Before its first search, this process does not know which deliveries wait.
    if (fence === undefined || !loop.isStarted || this.#mustLook) return undefined;
    return this.#queues.reserve(queue) ? fence : undefined;
  }

  /** Sends the deliveries of an event after the event's transaction has committed, or wakes the queues in which they wait. */
  arrived({ atOnce, queues }: Stored): void {
    this.#queues.releaseReservations();
    const { loop } = this.#options;
    for (const id of queues) this.#queues.get(id).firstWaits();
    if (queues.length > 0) loop.wake(this);
    // If the loop was stopped, these deliveries are not sent, because a stopped loop gives back the deliveries of its session.
    if (loop.isStopped) return;
    for (const { row, fence } of atOnce) {
      this.#hold({ row, members: [], isRetry: false, isProbe: false, fence, firstMs: row.first_attempt_ms ?? 0 }, false);
    }
  }

  /**
   * Requests a search for due deliveries that no queue knows of. For example, a replay or a resumed callback makes deliveries due without the queue's
   * knowledge.
   */
  lookAgain(): void {
    this.#looksAsked++;
    this.#options.loop.wake(this);
  }

  async turn({ nowMs, session, isHurried, isLast }: Turn): Promise<TurnEnd> {
    if (isHurried || isLast || this.#mustFlush) await this.#flush();
    await this.#look(session.isShared, isHurried);
    const claimed = isLast ? 0 : await this.#claim(session, nowMs, isHurried);
    // The check for overdue deliveries comes after the claim, so that a process that was suspended does not report deliveries that it claims in this
    // turn.
    if (!isLast) await this.#watchOverdue();
    const didWork = claimed > 0 || (isHurried && this.#hasStored);
    this.#hasStored = false;
    return { didWork, nextDueMs: this.#queues.nextDueMs(nowMs) };
  }

  async settled(): Promise<boolean> {
    if (this.#unended === 0) return !this.#results.isEmpty;
    await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    return true;
  }

  isBusy(nowMs: number): boolean {
    return this.#unended > 0 || !this.#results.isEmpty || this.#mustFlush || this.#mustLook || this.#mayHoldMore || this.#queues.hasDue(nowMs);
  }

  /**
   * Frees the deliveries of an ended session. Plaza sends the deliveries of an ended session again at once, because the receivers may not have got
   * them.
   */
  async release(tx: Transaction, fence: number): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const sending = await findSending(tx, fence);
    for (let at = 0; at < sending.length; at += CLAIMED_MAX) {
      const rows = sending.slice(at, at + CLAIMED_MAX).map(({ id, attempts }) => {
        const interrupted = withAttempts(attempts, [{ time_ms: nowMs, error: "interrupted" }]);
        return { id, fence, status: WAITING, attempts: interrupted, due_ms: nowMs, ended_ms: null };
      });
      await saveResults(tx, rows);
    }
    tx.afterCommit(() => this.lookAgain());
  }

  /**
   * Reports deliveries that have been overdue since the last call, and searches for them. A delivery is overdue if it was the oldest of its queue at
   * the last call and is still the oldest, although the queue has no reason to wait.
   */
  async checkOverdue(monotonicMs: number): Promise<void> {
    const { database, clock, observer, loop } = this.#options;
    const nowMs = clock.nowMs();
    const [firsts, retries] = await Promise.all([findQueuesWithFirsts(database.reader), findQueuesWithRetries(database.reader)]);
    const oldest = [
      ...firsts.map((one) => ({ queue: one.queue, delivery: one.oldest, isRetry: false })),
      ...retries.filter(({ due_ms }) => due_ms <= nowMs).map((one) => ({ queue: one.queue, delivery: one.oldest, isRetry: true })),
    ];
    for (const one of this.#overdue.compare(oldest, monotonicMs)) {
      const { queue, delivery, isRetry } = one;
      if (!(await this.#queues.hasCapacity(queue, isRetry))) continue;
      if (!isRetry && (await isBehindAnother(database.reader, delivery))) continue;
      observer.deliveryOverdue(one);
      if (isRetry) this.#queues.get(queue).retryWaits(nowMs);
      else this.#queues.get(queue).firstWaits();
      loop.wake(this);
    }
  }

  async #watchOverdue(): Promise<void> {
    // time: the interval between two checks is real time.
    const monotonicMs = performance.now();
    if (this.#overdue.waitMs(monotonicMs) === 0) await this.checkOverdue(monotonicMs);
    this.#options.loop.wakeIn(this, this.#overdue.waitMs(monotonicMs));
  }

  get #mustLook(): boolean {
    return this.#looksMade < this.#looksAsked;
  }

  async #flush(): Promise<void> {
    this.#mustFlush = true;
    await this.#results.flush();
    this.#mustFlush = false;
  }

  /** Finds the queues in which deliveries wait. */
  async #look(isShared: boolean, isHurried: boolean): Promise<void> {
    // time: the interval between searches of the database is real time.
    const monotonicMs = performance.now();
    if (!this.#mustLook && !isHurried && !(isShared && monotonicMs - this.#lookedAtMs >= LOOK_MS)) return;
    this.#lookedAtMs = monotonicMs;
    const { reader } = this.#options.database;
    // If a search is requested while this search reads the database, the requested search follows afterwards.
    const asked = this.#looksAsked;
    const [firsts, retries] = await Promise.all([findQueuesWithFirsts(reader), findQueuesWithRetries(reader)]);
    this.#looksMade = asked;
    for (const { queue } of firsts) this.#queues.get(queue).firstWaits();
    for (const { queue, due_ms } of retries) this.#queues.get(queue).retryWaits(due_ms);
  }

  /** Claims deliveries for all queues, and returns their number. */
  async #claim(session: WorkSession, nowMs: number, isHurried: boolean): Promise<number> {
    if (this.#mayHoldMore) await this.#giveBackUnknown(session, nowMs);
    const requests = await this.#queues.requestClaims(nowMs, isHurried);
    if (requests.length === 0) return 0;
    const { database, fields } = this.#options;
    for (const request of requests) this.#queues.get(request.queue).claimBegins(request);
    let claims: Claims;
    try {
      claims = await database.write((tx) => claim(tx, requests, { fence: session.fenceFor(tx), nowMs, fields }));
    } catch (error) {
      for (const request of requests) this.#queues.get(request.queue).claimFailed(request);
      this.#mayHoldMore = session.isShared;
      throw error;
    }
    for (const view of claims.views) this.#queues.get(view.request.queue).claimEnded(view);
    for (const claimed of claims.claimed) this.#hold(claimed, isHurried);
    return claims.claimed.length;
  }

  /**
   * Releases the deliveries that the database lists as claimed by this session, but that this process does not have in memory, so that they can be
   * claimed again. No other process releases the deliveries of a session that still exists.
   */
  async #giveBackUnknown(session: WorkSession, nowMs: number): Promise<void> {
    await this.#options.database.write(async (tx) => giveBackUnknown(tx, { fence: await session.fenceFor(tx), nowMs, held: this.#held }));
    this.#mayHoldMore = false;
    this.lookAgain();
  }

  #hold(claimed: Claimed, isHurried: boolean): void {
    this.#unended++;
    this.#held.add(claimed.row.id);
    if (this.#queues.hold(claimed, isHurried)) void this.#send(claimed);
  }

  async #send(claimed: Claimed): Promise<void> {
    const queue = this.#queues.get(claimed.row.callback);
    queue.sent(claimed);
    this.#end(claimed, await this.#attempt(claimed, queue), true);
  }

  /** Makes the attempt at a claimed delivery. The promise of this method never rejects. */
  async #attempt(claimed: Claimed, queue: EndpointQueue): Promise<Outcome> {
    const { loop, observer, clock } = this.#options;
    const { row, members } = claimed;
    // While the delivery waited for a slot of the concurrency window, another session has taken the delivery over, so the other session sends the
    // delivery.
    if (!loop.session.holds(claimed.fence)) return BACK;
    // time: the limits of queues are real time.
    const startMs = performance.now();
    let outcome: Outcome;
    observer.workBegins("webhook delivery", row.id);
    try {
      outcome = await attemptDelivery(this.#options, claimed);
    } catch (error) {
      observer.attemptBroke(row.id, error);
      const nowMs = clock.nowMs();
      const attempt = { time_ms: nowMs, error: `internal: ${error instanceof Error ? error.message : String(error)}` };
      return { kind: "retry", attempt, dueMs: nowMs + AGAIN_MS, isTimeout: false };
    }
    // If no request was sent, the result does not show whether a receiver works.
    if (!isAttempted(outcome) || outcome.attempt.callback === undefined) return outcome;
    // time: latencies are measured in real time.
    const endMs = performance.now();
    if (outcome.kind === "delivered") queue.succeeded(endMs - startMs);
    else queue.failed("isTimeout" in outcome && outcome.isTimeout, endMs - startMs, endMs);
    const updates = 1 + members.length;
    for (const attempt of outcome.unanswered ?? [])
      observer.attempted({ row, updates, outcome: { kind: "retry", attempt, dueMs: clock.nowMs(), isTimeout: false } });
    observer.attempted({ row, updates, outcome });
    return outcome;
  }

  #end(claimed: Claimed, outcome: Outcome, wasSent: boolean): void {
    const { loop, observer, clock } = this.#options;
    this.#results.add({ claimed, outcome, wasSent, atMs: clock.nowMs() });
    this.#results.flush().catch((error: unknown) => {
      // The data of the world were replaced or deleted, or another session sends the delivery again.
      if (loop.isStopped) return;
      // The database cannot be reached, so the next turn tries once more to store the results.
      this.#mustFlush = true;
      observer.attemptBroke(claimed.row.id, error);
      loop.wakeIn(this, AGAIN_MS);
    });
    if (--this.#unended === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  /** Lets a queue send its next delivery after the result of one of its deliveries was stored. */
  #stored({ claimed, outcome, wasSent, waitsIn }: StoredResult): void {
    this.#hasStored = true;
    this.#held.delete(claimed.row.id);
    this.#queues.stored(claimed, wasSent);
    const queue = this.#queues.get(claimed.row.callback);
    if (outcome.kind === "retry") queue.retryWaits(outcome.dueMs);
    if (outcome.kind === "unsubscribed") this.#options.observer.deliveryUnsubscribed(claimed.row);
    if (waitsIn !== undefined && claimed.isRetry) this.#queues.get(waitsIn).retryWaits(0);
    else if (waitsIn !== undefined) this.#queues.get(waitsIn).firstWaits();
    this.#sendNext(queue);
    this.#options.loop.wake(this);
  }

  #healthChanged({ callback, became }: HealthChange): void {
    const { observer } = this.#options;
    if (became === "failing") {
      observer.callbackBeganToFail(callback);
      return;
    }
    observer.callbackPaused(callback);
    this.#giveBack(this.#queues.get(callback.id));
  }

  /** Gives back those of the queue's deliveries that were claimed before a slot was free for them. */
  #giveBack(queue: EndpointQueue): void {
    for (const claimed of queue.takeUnsent()) this.#end(claimed, BACK, false);
  }

  #sendNext(queue: EndpointQueue): void {
    // A receiver that has begun to fail gets none of the deliveries that were claimed before a slot was free for them.
    if (queue.isBreakerOpen || this.#options.loop.isStopped) this.#giveBack(queue);
    for (let next = queue.takeSendable(); next !== undefined; next = queue.takeSendable()) void this.#send(next);
  }
}
