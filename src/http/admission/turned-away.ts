/** D-97: delays the next request of each connection whose last request was turned away. */
import type { GraphResponse } from "#graph/pipeline/request";
import { monotonicMs } from "#system";
import type { Connection } from "../http1/connection.ts";

/**
 * The number of held back connections that are released per second. If thousands of connections wait, it takes some 50 µs to turn a request away,
 * most of this time in the operating system. Turning away 500 requests per second takes 2.5 % of a core.
 */
const COMING_BACK_PER_SECOND = 500;
const HOLD_SECONDS_MAX = 10;
const LOOK_EVERY_MS = 100;
/**
 * The number of connections from which the server reads early, to test whether the server has capacity again. The number of connections doubles at
 * each check as long as the server turns no request away.
 */
const SOONER_MIN = 50;

export type TurnedAwayConnection = Pick<Connection, "isLast" | "isGone" | "send" | "holdBack" | "finish">;

interface HeldBack {
  readonly connection: TurnedAwayConnection;
  readonly untilMs: number;
}

/**
 * Holds connections back: the server does not read from a held-back connection until the time that the response named is over, or until the server
 * has capacity again. A client that repeats its request too early therefore uses no processor time of the server, and the server serves the accepted
 * requests, however many clients there are.
 */
export class TurnedAwayConnections {
  #heldBack: HeldBack[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #isFull = false;
  #sooner = 0;

  /** The longest time that the next connection is held back, in seconds. */
  get seconds(): number {
    return Math.min(HOLD_SECONDS_MAX, 1 + Math.floor(this.#heldBack.length / COMING_BACK_PER_SECOND));
  }

  /** Sends the response at once, and finishes the request on the connection later. */
  respond(connection: TurnedAwayConnection, response: GraphResponse, seconds: number): void {
    const { isLast } = connection;
    connection.send(response);
    this.#isFull = true;
    if (isLast) {
      connection.finish();
      return;
    }
    connection.holdBack();
    this.#heldBack.push({ connection, untilMs: monotonicMs() + seconds * 1_000 });
    // A timer does the check, because no event happens on held-back connections.
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    this.#sooner = this.#isFull ? 0 : Math.max(SOONER_MIN, 2 * this.#sooner);
    this.#isFull = false;
    const nowMs = monotonicMs();
    const [kept, released]: [HeldBack[], TurnedAwayConnection[]] = [[], []];
    for (const one of this.#heldBack) {
      const { connection, untilMs } = one;
      if (connection.isGone) continue;
      if (untilMs <= nowMs || connection.isLast || released.length < this.#sooner) released.push(connection);
      else kept.push(one);
    }
    this.#heldBack = kept;
    if (kept.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // The next request of a connection may have arrived already, and may be turned away too.
    for (const connection of released) connection.finish();
  }
}
