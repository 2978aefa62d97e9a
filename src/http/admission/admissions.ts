/**
 * Which requests run (D-97). The limits on requests and on the bytes of their bodies are shared: a request counts against the app whose live
 * token it brings and, within it, against the address of its client; without a live token against the address alone.
 *
 * **Invariant:** a request never counts against an app whose token it does not have.
 */
import type { Admission } from "#graph/pipeline/request";
import { overloaded, tooManyWaiting } from "#kernel/errors";
import { type Account, Shares } from "#kernel/shares";
import type { RequestMetrics, TurnAwayReason } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

/** A client as far as it is known before its request is looked at. */
export interface Client {
  readonly address: string;
  /** The app whose live token the head shows. */
  knownApp(): string | undefined;
}

export interface TurnAway {
  readonly app: string | undefined;
  readonly reason: TurnAwayReason;
}

/** Larger ones take some ms to parse: one in a turn of the event loop, so that thousands of them hold up nobody else. */
export const SMALL_BODY_BYTES_MAX = 65_536;

export class Admissions {
  /** Set when the server stops: no new requests. */
  isStopping = false;
  readonly running: Shares;
  readonly waiting: Shares;
  readonly metrics: RequestMetrics;
  /** When a request that is turned away may come again. */
  readonly retryAfterSeconds: () => number;
  readonly #arriving: Shares;

  constructor(limits: HttpLimits, metrics: RequestMetrics, retryAfterSeconds: () => number) {
    this.running = new Shares({ count: limits.requestsMax, size: limits.requestBytesMax });
    this.waiting = new Shares(limits.waiting, limits.waitingOfAppMax);
    this.#arriving = new Shares({ count: Number.POSITIVE_INFINITY, size: limits.arrivingBytesMax });
    this.metrics = metrics;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Before a body is parsed; `bytes` is its length. What is returned must be ended. */
  admit(client: Client, bytes: number): RunningRequest | TurnAway {
    const { running } = this;
    if (this.isStopping) return { app: undefined, reason: "stopping" };
    // Others learn their app as soon as their token is checked.
    const app = running.isFull || bytes > SMALL_BODY_BYTES_MAX ? client.knownApp() : undefined;
    const lacking = running.lacks(running.accountOf(app, client.address), bytes);
    return lacking === undefined ? new RunningRequest(this, client.address, app, bytes) : { app, reason: reasons[lacking] };
  }

  /** For a body that did not come with its head. What is returned must be ended. */
  arrivingBody(client: Client): ArrivingBody {
    return new ArrivingBody(this.#arriving, client);
  }
}

const reasons = { count: "requests", size: "bytes" } as const satisfies Record<string, TurnAwayReason>;

export class RunningRequest implements Admission {
  readonly #admissions: Admissions;
  readonly #address: string;
  readonly #bytes: number;
  #account: Account;
  #app: string | undefined;
  /** Set when it was turned away after all. */
  turnAway: TurnAway | undefined;

  constructor(admissions: Admissions, address: string, app: string | undefined, bytes: number) {
    this.#admissions = admissions;
    this.#address = address;
    this.#app = app;
    this.#bytes = bytes;
    this.#account = admissions.running.accountOf(app, address);
    this.#begin();
  }

  countAgainst(app: string): void {
    if (this.#app !== undefined) return;
    const { running } = this.#admissions;
    this.#app = app;
    running.release(this.#account, this.#bytes);
    this.#account = running.accountOf(app, this.#address);
    const lacking = running.lacks(this.#account, this.#bytes);
    running.hold(this.#account, this.#bytes);
    if (lacking === undefined) return;
    this.turnAway = { app, reason: reasons[lacking] };
    throw overloaded(this.#admissions.retryAfterSeconds());
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    const { waiting, metrics, retryAfterSeconds } = this.#admissions;
    const account = waiting.accountOf(this.#app, this.#address);
    if (waiting.lacks(account, this.#bytes) !== undefined) {
      this.turnAway = { app: this.#app, reason: "waiting" };
      throw tooManyWaiting(retryAfterSeconds());
    }
    waiting.hold(account, this.#bytes);
    metrics.waiting++;
    this.end();
    try {
      return await wait();
    } finally {
      waiting.release(account, this.#bytes);
      metrics.waiting--;
      this.#begin();
    }
  }

  end(): void {
    this.#admissions.running.release(this.#account, this.#bytes);
    this.#admissions.metrics.inFlight--;
  }

  #begin(): void {
    this.#admissions.running.hold(this.#account, this.#bytes);
    this.#admissions.metrics.inFlight++;
  }
}

/** The memory of a body counts as far as it has arrived, not as far as it was announced. */
export class ArrivingBody {
  readonly #shares: Shares;
  readonly #client: Client;
  readonly #account: Account;
  #bytes = 0;
  /** Set when it was refused. */
  turnAway: TurnAway | undefined;

  constructor(shares: Shares, client: Client) {
    this.#shares = shares;
    this.#client = client;
    this.#account = shares.accountOf(client.knownApp(), client.address);
    shares.hold(this.#account, 0);
  }

  /** `bytes` have arrived by now. Returns false where they are too many: the body must be given up. */
  resize(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more > 0 && this.#shares.lacks(this.#account, more) !== undefined) {
      this.turnAway = { app: this.#client.knownApp(), reason: "arriving" };
      return false;
    }
    this.#shares.grow(this.#account, more);
    this.#bytes = bytes;
    return true;
  }

  end(): void {
    this.#shares.release(this.#account, this.#bytes);
  }
}
