/**
 * The delivery of webhooks, as a source of the world's loop. A turn is one transaction: it stores how attempts ended and
 * claims the next ones. Between turns calls are out, and no transaction is open.
 */
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { Turn, TurnEnd, WorkSource } from "#jobs/work-source";
import type { Transaction } from "#storage/database";
import { withAttempt } from "./attempts.ts";
import { findLanesWithFirsts, findLanesWithRetries, findSending, NO_LANE, saveRetry } from "./deliveries.store.ts";
import { attemptDelivery, type Outcome, type PostOffice } from "./delivery-attempt.ts";
import { type Claimed, claim, type Seen, type Want } from "./delivery-claims.ts";
import { type End, type EndStored, storeEnds } from "./delivery-ends.ts";
import { Lane } from "./lane.ts";
import type { WebhookObserver } from "./observer.ts";

/** Deliveries that this process holds: each some kB, and a socket once it is out. */
const HELD_MAX = 2_048;
/** Of them retries, so that a night's failures leave room for what is new. */
const HELD_RETRIES_MAX = 512;
/** Of them those to receivers that did not answer in time. */
const HELD_SLOW_MAX = 256;
/** Claimed in one transaction. */
const CLAIMED_MAX = 512;
/** Lanes that are remembered though nothing waits in them, for what is known of their receivers. */
const LANES_KEPT_MAX = 10_000;
/** How often a shared database is looked at for what other processes emitted or left. */
const LOOK_MS = 1_000;
/** An attempt that could not even be made, because the database was away or the program erred. */
const AGAIN_MS = 1_000;

export interface DeliveriesOptions extends PostOffice {
  readonly loop: WorkLoop;
  readonly jobs: Jobs<unknown>;
  readonly observer: WebhookObserver;
  /** Deliveries a second and callback; 0: as many as it takes. */
  readonly perSecondMax: number;
}

export class Deliveries implements WorkSource {
  readonly #options: DeliveriesOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Claimed, and not out yet: their lane has as many calls out as it may. */
  readonly #queues = new Map<Lane, Claimed[]>();
  #ends: End[] = [];
  #held = 0;
  #heldRetries = 0;
  #calls = 0;
  #whenSettled: (() => void)[] = [];
  #mustLook = true;
  #lookedAtMs = 0;
  /** Who comes first in the next turn. */
  #rotation = 0;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    options.loop.add(this);
  }

  /** Something new waits in these lanes; called after the commit. */
  arrived(lanes: readonly string[]): void {
    for (const id of lanes) this.#lane(id).hasFirsts = true;
    this.#options.loop.wake(this);
  }

  /** Something changed that is not known lane by lane: a replay, a callback that is resumed. */
  lookAgain(): void {
    this.#mustLook = true;
    this.#options.loop.wake(this);
  }

  async turn({ nowMs, session, isHurried, isLast }: Turn): Promise<TurnEnd> {
    const { database, callbacks, jobs } = this.#options;
    await this.#look(session.isShared, isHurried);
    const wants = isLast ? [] : await this.#wants(nowMs, isHurried);
    const ends = this.#ends;
    if (ends.length === 0 && wants.length === 0) return { didWork: false, nextDueMs: this.#nextDueMs(nowMs) };
    this.#ends = [];
    // Believed at once, so that what arrives while the transaction runs is not overlooked.
    for (const { lane, firsts } of wants) if (firsts > 0) lane.hasFirsts = false;
    for (const end of ends) freePlace(end);
    let stored: EndStored[] = [];
    let got: { claimed: Claimed[]; seen: Seen[] } = { claimed: [], seen: [] };
    try {
      await database.write(async (tx) => {
        stored = await storeEnds(tx, ends, callbacks, jobs);
        if (wants.length > 0) got = await claim(tx, wants, await session.fenceFor(tx), nowMs);
      });
    } catch (error) {
      this.#ends.unshift(...ends);
      for (const { lane, firsts } of wants) if (firsts > 0) lane.hasFirsts = true;
      for (const { claimed } of ends) if (!claimed.isRetry) claimed.lane.entities.add(claimed.row.entity);
      throw error;
    }
    for (const one of got.seen) this.#believe(one);
    for (const { end, movedTo } of stored) this.#forget(end, movedTo);
    for (const one of got.claimed) this.#hold(one, isHurried);
    return { didWork: ends.length > 0 || got.claimed.length > 0, nextDueMs: this.#nextDueMs(nowMs) };
  }

  async settled(): Promise<boolean> {
    if (this.#calls === 0) return this.#ends.length > 0;
    await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    return true;
  }

  /** What an ended session was sending may have arrived or not: it is sent again, at once. */
  async release(tx: Transaction, fence: number): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    for (const { id, attempts } of await findSending(tx, fence)) {
      await saveRetry(tx, id, fence, withAttempt(attempts, { time_ms: nowMs, error: "interrupted" }), nowMs);
    }
    tx.afterCommit(() => this.lookAgain());
  }

  async #look(isShared: boolean, isHurried: boolean): Promise<void> {
    // time: of looks at the database, not of a world.
    const monotonicMs = performance.now();
    if (!this.#mustLook && !isHurried && !(isShared && monotonicMs - this.#lookedAtMs >= LOOK_MS)) return;
    this.#lookedAtMs = monotonicMs;
    const { reader } = this.#options.database;
    const [firsts, retries] = await Promise.all([findLanesWithFirsts(reader), findLanesWithRetries(reader)]);
    this.#mustLook = false;
    for (const id of firsts) this.#lane(id).hasFirsts = true;
    for (const { lane, due_ms } of retries) this.#lane(lane).nextRetryMs = due_ms;
  }

  /** What each lane may take now, beginning with another one each time. */
  async #wants(nowMs: number, isHurried: boolean): Promise<Want[]> {
    // time: limits of lanes are real time.
    const monotonicMs = performance.now();
    const wants: Want[] = [];
    let room = Math.min(CLAIMED_MAX, HELD_MAX - this.#held);
    let retryRoom = HELD_RETRIES_MAX - this.#heldRetries;
    let slowRoom = HELD_SLOW_MAX - this.#heldSlow();
    const active = [...this.#lanes.values()].filter((lane) => lane.hasFirsts || (lane.nextRetryMs !== undefined && lane.nextRetryMs <= nowMs));
    const start = active.length === 0 ? 0 : this.#rotation++ % active.length;
    for (let at = 0; at < active.length && room > 0; at++) {
      const lane = active[(start + at) % active.length] as Lane;
      if (lane.id !== NO_LANE && (await this.#isPaused(lane.id))) continue;
      const waitMs = isHurried ? 0 : lane.waitMs(monotonicMs);
      if (waitMs > 0) {
        this.#options.loop.wakeIn(this, waitMs);
        continue;
      }
      const most = lane.isSlow ? Math.min(room, slowRoom) : room;
      const firsts = lane.hasFirsts ? Math.max(0, Math.min(most, lane.roomForFirsts(monotonicMs, isHurried))) : 0;
      const isDue = lane.nextRetryMs !== undefined && lane.nextRetryMs <= nowMs;
      // A probe is one call, whichever it is.
      const left = lane.isProbing && !isHurried ? 1 - firsts : most - firsts;
      const retries = isDue ? Math.max(0, Math.min(left, retryRoom, lane.roomForRetries(monotonicMs, isHurried))) : 0;
      if (firsts + retries === 0) continue;
      wants.push({ lane, firsts, retries });
      room -= firsts + retries;
      retryRoom -= retries;
      if (lane.isSlow) slowRoom -= firsts + retries;
    }
    return wants;
  }

  async #isPaused(lane: string): Promise<boolean> {
    const { callbacks } = this.#options;
    const callback = callbacks.peek(lane) ?? (await callbacks.find(lane));
    return callback !== undefined && callback.paused_ms !== null;
  }

  #heldSlow(): number {
    let held = 0;
    for (const lane of this.#lanes.values()) if (lane.isSlow) held += lane.firsts + lane.retries;
    return held;
  }

  #lane(id: string): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      if (this.#lanes.size >= LANES_KEPT_MAX) this.#forgetLanes();
      lane = new Lane(id, this.#options.perSecondMax);
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  #forgetLanes(): void {
    for (const lane of this.#lanes.values()) if (lane.isForgettable) this.#lanes.delete(lane.id);
  }

  #nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const { id, nextRetryMs } of this.#lanes.values()) {
      // Those that are due and were not taken wait for a call to end, or for time of their own.
      if (nextRetryMs === undefined || nextRetryMs <= nowMs || this.#options.callbacks.peek(id)?.paused_ms != null) continue;
      if (next === undefined || nextRetryMs < next) next = nextRetryMs;
    }
    return next;
  }

  #believe({ lane, hasFirsts, hasBlocked, retries, nextEntity }: Seen): void {
    lane.hasFirsts ||= hasFirsts;
    lane.hasBlocked = hasBlocked;
    if (retries !== undefined) lane.nextRetryMs = retries.nextMs;
    lane.nextEntity = nextEntity;
  }

  #hold(one: Claimed, isHurried: boolean): void {
    const { lane, row, isRetry } = one;
    this.#held++;
    this.#calls++;
    lane.take(1);
    if (isRetry) {
      lane.retries++;
      this.#heldRetries++;
    } else {
      lane.firsts++;
      lane.entities.add(row.entity);
    }
    // Retries have room of their own, so that a full window of first attempts does not keep them waiting.
    if (isRetry || isHurried || lane.hasFreeCall) void this.#send(one);
    else {
      const queue = this.#queues.get(lane);
      if (queue === undefined) this.#queues.set(lane, [one]);
      else queue.push(one);
    }
  }

  async #send(one: Claimed): Promise<void> {
    const { lane } = one;
    lane.inFlight++;
    const outcome = await this.#attempt(one);
    lane.inFlight--;
    this.#end(one, outcome);
    const next = this.#queues.get(lane)?.shift();
    if (next === undefined) this.#queues.delete(lane);
    else if (lane.isProbing || this.#options.loop.isStopped) this.#giveBack(lane, next);
    else void this.#send(next);
  }

  /** A receiver that has begun to fail gets nothing of what was claimed ahead. */
  #giveBack(lane: Lane, first: Claimed): void {
    const queue = [first, ...(this.#queues.get(lane) ?? [])];
    this.#queues.delete(lane);
    for (const one of queue) this.#end(one, { kind: "back" });
  }

  #end(claimed: Claimed, outcome: Outcome): void {
    this.#ends.push({ claimed, outcome, atMs: this.#options.clock.nowMs() });
    if (--this.#calls === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
    this.#options.loop.wake(this);
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
    // time: as above.
    const endMs = performance.now();
    // What leads nowhere has no receiver to be spared.
    if (one.lane.id === NO_LANE) return outcome;
    if (outcome.kind === "delivered") one.lane.succeeded(endMs - startMs);
    else one.lane.failed(outcome.kind === "retry" && outcome.isTimeout, endMs - startMs, endMs);
    observer.attempted({ row: one.row, updates: 1 + one.members.length, outcome });
    return outcome;
  }

  /** Its end is stored: its place in the order is free. */
  #forget({ claimed, outcome }: End, movedTo: string | undefined): void {
    const { lane, isRetry } = claimed;
    this.#held--;
    if (isRetry) {
      lane.retries--;
      this.#heldRetries--;
    } else {
      lane.firsts--;
      if (lane.hasBlocked) lane.hasFirsts = true;
    }
    if (outcome.kind === "retry") lane.nextRetryMs = Math.min(lane.nextRetryMs ?? outcome.dueMs, outcome.dueMs);
    const waitsIn = outcome.kind === "back" ? lane : movedTo === undefined ? undefined : this.#lane(movedTo);
    if (waitsIn !== undefined && isRetry) waitsIn.nextRetryMs = Math.min(waitsIn.nextRetryMs ?? 0, 0);
    else if (waitsIn !== undefined) waitsIn.hasFirsts = true;
  }
}

/** In the order of its entity, once its end is stored. */
function freePlace({ claimed }: End): void {
  if (!claimed.isRetry) claimed.lane.entities.delete(claimed.row.entity);
}
