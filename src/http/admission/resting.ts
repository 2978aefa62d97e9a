/** Connections whose last request was turned away. */
import type { GraphResponse } from "#graph/pipeline/request";
import { monotonicMs } from "#system";
import type { Connection } from "../http1/connection.ts";

/** Turning a request away takes some 50 µs where thousands of connections wait, most of them the system's: so many in a second take 2.5 % of a core. */
const COMING_BACK_PER_SECOND = 500;
const REST_SECONDS_MAX = 10;
const LOOK_EVERY_MS = 100;
/** Connections that go on before their time, to see whether there is room again: twice as many each time, as long as there is. */
const SOONER_MIN = 50;

/** What it needs of a connection. */
export type RestingConnection = Pick<Connection, "isLast" | "isGone" | "send" | "rest" | "finish">;

interface Rest {
  readonly connection: RestingConnection;
  readonly untilMs: number;
}

/**
 * D-97: connections whose last request was turned away. Nothing is read from them before the time that the response named is over, or
 * there is room again: a client that comes back sooner costs nothing until then, and the work that was taken gets done, however many
 * clients there are.
 */
export class Resting {
  #rests: Rest[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #isFull = false;
  #sooner = 0;

  /** How long the next one rests at most. */
  get seconds(): number {
    return Math.min(REST_SECONDS_MAX, 1 + Math.floor(this.#rests.length / COMING_BACK_PER_SECOND));
  }

  /** The response leaves at once; the connection finishes later. */
  respond(connection: RestingConnection, response: GraphResponse, seconds: number): void {
    const { isLast } = connection;
    connection.send(response);
    this.#isFull = true;
    if (isLast) {
      connection.finish();
      return;
    }
    connection.rest();
    this.#rests.push({ connection, untilMs: monotonicMs() + seconds * 1_000 });
    // timer: nothing else happens on the connections meanwhile.
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    this.#sooner = this.#isFull ? 0 : Math.max(SOONER_MIN, 2 * this.#sooner);
    this.#isFull = false;
    const nowMs = monotonicMs();
    const [kept, rested]: [Rest[], RestingConnection[]] = [[], []];
    for (const rest of this.#rests) {
      const { connection, untilMs } = rest;
      if (connection.isGone) continue;
      if (untilMs <= nowMs || connection.isLast || rested.length < this.#sooner) rested.push(connection);
      else kept.push(rest);
    }
    this.#rests = kept;
    if (kept.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // The next request may have come already, and may be turned away as well.
    for (const connection of rested) connection.finish();
  }
}
