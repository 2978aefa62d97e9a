/**
 * The delivery of webhooks, as a source of the world's loop. A turn claims deliveries in one transaction; how attempts end is
 * stored in others. While calls are out no transaction is open.
 */
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { WorkSession } from "#jobs/work-session";
import type { Turn, TurnEnd, WorkSource } from "#jobs/work-source";
import type { Transaction } from "#storage/database";
import type { Stored } from "../events/emit.ts";
import type { WebhookObserver } from "../observer.ts";
import { attemptDelivery, type Outcome } from "./attempt.ts";
import { withAttempt } from "./attempts.ts";
import { type Claimed, claim, type Seen, type Want } from "./claims.ts";
import { findLanesWithFirsts, findLanesWithRetries, findSending, NO_LANE, saveEnds, WAITING } from "./deliveries.store.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Lane } from "./queue/endpoint-queue.ts";
import { CLAIMED_MAX, Lanes } from "./queue/endpoint-queues.ts";
import { type EndStored, Ends } from "./results.ts";

/** How often a shared database is looked at for what other processes emitted or left. */
const LOOK_MS = 1_000;
/** An attempt that could not even be made, because the database was away or the program erred. */
const AGAIN_MS = 1_000;

const NOTHING: readonly never[] = [];

export interface DeliveriesOptions extends DeliveryDeps {
  readonly loop: WorkLoop;
  readonly jobs: Jobs<unknown>;
  readonly observer: WebhookObserver;
  /** Deliveries a second and callback; 0: as many as it takes. */
  readonly perSecondMax: number;
}

export class Deliveries implements WorkSource {
  readonly #options: DeliveriesOptions;
  readonly #lanes: Lanes;
  /** Claimed, and not out yet: their lane has as many requests out as it may. */
  readonly #queues = new Map<Lane, Claimed[]>();
  readonly #ends: Ends;
  /** How many had been stored at the last turn. */
  #endsSeen = 0;
  #hasFailedEnds = false;
  /** Sent, and their ends not stored. */
  readonly #out = new Set<Claimed>();
  #held = 0;
  #heldRetries = 0;
  #requests = 0;
  #whenSettled: (() => void)[] = [];
  #mustLook = true;
  #lookedAtMs = 0;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#lanes = new Lanes({ ...options, wakeIn: (ms) => options.loop.wakeIn(this, ms) });
    this.#ends = new Ends({ ...options, onStored: (stored) => this.#stored(stored) });
    options.loop.add(this);
  }

  /**
   * An event that is being stored may be claimed in the same transaction when its lane has feature and nothing waits there: then it
   * carries the response, and no other transaction has to look for it. Only where no other process could take it over meanwhile.
   */
  fenceForNew(lane: string): number | undefined {
    const { loop } = this.#options;
    const fence = loop.session.soleFence;
    // Until the first look nobody knows what waits.
    if (fence === undefined || !loop.isStarted || this.#mustLook) return undefined;
    return this.#lanes.promise(lane, this.#held) ? fence : undefined;
  }

  /** An event was stored; called after the commit. */
  arrived({ atOnce, lanes }: Stored): void {
    this.#lanes.forgetPromises();
    const { loop } = this.#options;
    for (const id of lanes) this.#lanes.get(id).hasFirsts = true;
    if (lanes.length > 0) loop.wake(this);
    // A loop that has stopped meanwhile gives back what its session holds.
    if (loop.isStopped) return;
    for (const { row, fence } of atOnce) {
      this.#hold({ lane: this.#lanes.get(row.lane), row, members: NOTHING, isRetry: false, fence, firstMs: row.first_attempt_ms ?? 0 }, false);
    }
  }

  /** Something changed that is not known lane by lane: a replay, a callback that is resumed. */
  lookAgain(): void {
    this.#mustLook = true;
    this.#options.loop.wake(this);
  }

  async turn({ nowMs, session, isHurried, isLast }: Turn): Promise<TurnEnd> {
    if (isHurried || isLast || this.#hasFailedEnds) await this.#flush();
    await this.#look(session.isShared, isHurried);
    const wants = isLast ? [] : await this.#lanes.wants({ nowMs, isHurried, held: this.#held, heldRetries: this.#heldRetries });
    const claimed = wants.length === 0 ? 0 : await this.#claim(wants, session, nowMs, isHurried);
    const hasStored = this.#ends.count > this.#endsSeen;
    this.#endsSeen = this.#ends.count;
    return { didWork: claimed > 0 || (isHurried && hasStored), nextDueMs: this.#lanes.nextDueMs(nowMs) };
  }

  async settled(): Promise<boolean> {
    if (this.#requests === 0) return !this.#ends.isEmpty;
    await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    return true;
  }

  async #claim(wants: readonly Want[], session: WorkSession, nowMs: number, isHurried: boolean): Promise<number> {
    // Believed at once, so that what arrives while the transaction runs is not overlooked.
    for (const { lane, firsts } of wants) if (firsts > 0) lane.hasFirsts = false;
    let got: { claimed: Claimed[]; seen: Seen[] };
    const { database, fields } = this.#options;
    try {
      got = await database.write(async (tx) => claim(tx, wants, { fence: await session.fenceFor(tx), nowMs, fields }));
    } catch (error) {
      for (const { lane, firsts } of wants) if (firsts > 0) lane.hasFirsts = true;
      throw error;
    }
    for (const one of got.seen) this.#lanes.believe(one);
    for (const one of got.claimed) this.#hold(one, isHurried);
    return got.claimed.length;
  }

  async #flush(): Promise<void> {
    this.#hasFailedEnds = true;
    await this.#ends.flush();
    this.#hasFailedEnds = false;
  }

  /** What an ended session was sending may have arrived or not: it is sent again, at once. */
  async release(tx: Transaction, fence: number): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const sending = await findSending(tx, fence);
    for (let at = 0; at < sending.length; at += CLAIMED_MAX) {
      const rows = sending.slice(at, at + CLAIMED_MAX).map(({ id, attempts }) => {
        const interrupted = withAttempt(attempts, { time_ms: nowMs, error: "interrupted" });
        return { id, fence, status: WAITING, attempts: interrupted, due_ms: nowMs, ended_ms: null };
      });
      await saveEnds(tx, rows);
    }
    tx.afterCommit(() => this.lookAgain());
  }

  async #look(isShared: boolean, isHurried: boolean): Promise<void> {
    // The machine's clock: it times looks at the database, nothing of a world.
    const monotonicMs = performance.now();
    if (!this.#mustLook && !isHurried && !(isShared && monotonicMs - this.#lookedAtMs >= LOOK_MS)) return;
    this.#lookedAtMs = monotonicMs;
    const { reader } = this.#options.database;
    const [firsts, retries] = await Promise.all([findLanesWithFirsts(reader), findLanesWithRetries(reader)]);
    this.#mustLook = false;
    for (const id of firsts) this.#lanes.get(id).hasFirsts = true;
    for (const { lane, due_ms } of retries) this.#lanes.get(lane).nextRetryMs = due_ms;
  }

  #hold(one: Claimed, isHurried: boolean): void {
    const { lane, row, isRetry } = one;
    this.#held++;
    this.#requests++;
    lane.take(1);
    if (isRetry) {
      lane.retries++;
      this.#heldRetries++;
    } else {
      lane.firsts++;
      lane.entities.add(row.entity);
    }
    // Retries have room of their own, so that a full window of first attempts does not keep them waiting.
    if (isRetry || isHurried || lane.hasFreeSlot) void this.#send(one);
    else {
      const queue = this.#queues.get(lane);
      if (queue === undefined) this.#queues.set(lane, [one]);
      else queue.push(one);
    }
  }

  async #send(one: Claimed): Promise<void> {
    one.lane.goesOut(1 + one.members.length);
    this.#out.add(one);
    this.#end(one, await this.#attempt(one));
  }

  /** A request's end is stored, so that its lane may have another one out. */
  #sendNext(lane: Lane): void {
    const queue = this.#queues.get(lane);
    if (queue === undefined) return;
    if (lane.isProbing || this.#options.loop.isStopped) {
      this.#giveBack(lane);
      return;
    }
    for (let next = queue[0]; next !== undefined && lane.hasFreeSlot; next = queue[0]) {
      queue.shift();
      void this.#send(next);
    }
    if (queue.length === 0) this.#queues.delete(lane);
  }

  /** A receiver that has begun to fail gets nothing of what was claimed ahead. */
  #giveBack(lane: Lane): void {
    const queue = this.#queues.get(lane) ?? [];
    this.#queues.delete(lane);
    for (const one of queue) this.#end(one, { kind: "back" });
  }

  #end(claimed: Claimed, outcome: Outcome): void {
    this.#ends.add({ claimed, outcome, atMs: this.#options.clock.nowMs() });
    this.#ends.flush().catch((error: unknown) => {
      // The database is away: the next turn tries again.
      this.#hasFailedEnds = true;
      this.#options.observer.attemptBroke(claimed.row.id, error);
      this.#options.loop.wakeIn(this, AGAIN_MS);
    });
    if (--this.#requests === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  async #attempt(one: Claimed): Promise<Outcome> {
    const { loop, observer } = this.#options;
    // Taken over by another process while it waited here: it is that one's to send.
    if (!loop.session.holds(one.fence)) return { kind: "back" };
    // time: limits of lanes are real time.
    const startMs = performance.now();
    let outcome: Outcome;
    try {
      outcome = await attemptDelivery(this.#options, one);
    } catch (error) {
      observer.attemptBroke(one.row.id, error);
      const nowMs = this.#options.clock.nowMs();
      const attempt = { time_ms: nowMs, error: `internal: ${error instanceof Error ? error.message : String(error)}` };
      return { kind: "retry", attempt, dueMs: nowMs + AGAIN_MS, isTimeout: false };
    }
    if (outcome.kind === "moved" || outcome.kind === "back") return outcome;
    // The machine's clock, as above.
    const endMs = performance.now();
    // What leads nowhere has no receiver to be spared.
    if (one.lane.id === NO_LANE) return outcome;
    if (outcome.kind === "delivered") one.lane.succeeded(endMs - startMs);
    else one.lane.failed(outcome.kind === "retry" && outcome.isTimeout, endMs - startMs, endMs);
    observer.attempted({ row: one.row, updates: 1 + one.members.length, outcome });
    return outcome;
  }

  /** Its end is stored: its place in the order is free. */
  #stored({ end: { claimed, outcome }, movedTo }: EndStored): void {
    const { lane, row, isRetry } = claimed;
    this.#held--;
    lane.endCount++;
    if (this.#out.delete(claimed)) lane.isStored(1 + claimed.members.length);
    if (isRetry) {
      lane.retries--;
      this.#heldRetries--;
    } else {
      lane.firsts--;
      lane.entities.delete(row.entity);
      if (lane.hasBlocked) lane.hasFirsts = true;
    }
    if (outcome.kind === "retry") lane.nextRetryMs = Math.min(lane.nextRetryMs ?? outcome.dueMs, outcome.dueMs);
    const waitsIn = movedTo === undefined ? undefined : this.#lanes.get(movedTo);
    if (waitsIn !== undefined && isRetry) waitsIn.nextRetryMs = 0;
    else if (waitsIn !== undefined) waitsIn.hasFirsts = true;
    this.#sendNext(lane);
    this.#options.loop.wake(this);
  }
}
