/**
 * Decides which requests run (D-97). The limits on the number of requests and on the bytes of their bodies are divided among apps and addresses: a
 * request with a live token counts against the token's app and, within that app, against the address of its client. A request without a live token
 * counts only against the address.
 *
 * **Invariant:** a request never counts against an app whose token the request does not have.
 */
import type { Admission } from "#graph/pipeline/request";
import { overloaded, tooManyWaiting } from "#kernel/errors";
import { type Account, Shares } from "#kernel/shares";
import type { RequestMetrics, TurnAwayReason } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

/** The sender of a request, as far as the head of the request identifies the sender. */
export interface Client {
  readonly address: string;
  /**
   * A prefix for the ids of the apps of one world. Two worlds may use the same ids, and an app of one world must not use up the quota of an app of
   * another world.
   */
  readonly appPrefix?: string;
}

/** The reason why the server does not run a request. */
export interface TurnAway {
  readonly app: string | undefined;
  readonly reason: TurnAwayReason;
}

/**
 * The size of the largest request body that is parsed immediately. Larger request bodies take some ms to parse, so they are parsed one after another,
 * and the server serves other requests in between.
 */
export const SMALL_BODY_BYTES_MAX = 65_536;

export interface AdmissionsOptions<C extends Client> {
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  /** Returns the prefix and the id of the app whose live token is in the head of the request, or undefined if the head has no live token. */
  knownApp(client: C): string | undefined;
  /** The number of seconds after which a client may repeat a request that was turned away. */
  retryAfterSeconds(): number;
}

export class Admissions<C extends Client = Client> {
  /** Whether the server is stopping. A stopping server accepts no new requests. */
  isStopping = false;
  readonly running: Shares;
  readonly waiting: Shares;
  readonly options: AdmissionsOptions<C>;
  readonly #arriving: Shares;

  constructor(options: AdmissionsOptions<C>) {
    const { limits } = options;
    this.running = new Shares({ count: limits.requestsMax, size: limits.requestBytesMax });
    this.waiting = new Shares(limits.waiting, limits.waitingOfAppMax);
    this.#arriving = new Shares({ count: Number.POSITIVE_INFINITY, size: limits.arrivingBytesMax });
    this.options = options;
  }

  /**
   * Decides whether a request runs. The caller calls this method before it parses the body; `bytes` is the body's length. If the method returns a
   * running request, the caller must end this request.
   */
  admit(client: C, bytes: number): RunningRequest | TurnAway {
    const { running } = this;
    if (this.isStopping) return { app: undefined, reason: "stopping" };
    // A small request body is parsed, and its token is checked, in this turn of the event loop, so the server learns the request's app soon.
    if (!running.isFull && bytes <= SMALL_BODY_BYTES_MAX) return new RunningRequest(this, client, undefined, undefined, bytes);
    const app = this.options.knownApp(client);
    const account = running.accountOf(app, client.address);
    const lacking = running.lacks(account, bytes);
    return lacking === undefined ? new RunningRequest(this, client, app, account, bytes) : { app, reason: reasons[lacking] };
  }

  /**
   * Begins to count the bytes of a request body that did not arrive together with the head of its request. The caller must call `end` of the returned
   * object.
   */
  arrivingBody(client: C): ArrivingBody {
    return new ArrivingBody(this.#arriving, this.options.knownApp(client), client.address);
  }
}

const reasons = { count: "requests", size: "bytes" } as const satisfies Record<string, TurnAwayReason>;

export class RunningRequest implements Admission {
  readonly #admissions: Pick<Admissions, "running" | "waiting" | "options">;
  readonly #client: Client;
  readonly #bytes: number;
  #app: string | undefined;
  /** The account that the request counts against. The account is undefined until the token is checked, later in this turn of the event loop. */
  #account: Account | undefined;
  /** The reason why the request was turned away after it had begun; undefined if the request was not turned away. */
  turnAway: TurnAway | undefined;

  constructor(
    admissions: Pick<Admissions, "running" | "waiting" | "options">,
    client: Client,
    app: string | undefined,
    account: Account | undefined,
    bytes: number,
  ) {
    this.#admissions = admissions;
    this.#client = client;
    this.#app = app;
    this.#account = account;
    this.#bytes = bytes;
    this.#begin();
  }

  countAgainst(app: string): void {
    if (this.#app !== undefined) return;
    const { running, options } = this.#admissions;
    running.release(this.#account, this.#bytes);
    this.#app = (this.#client.appPrefix ?? "") + app;
    this.#account = running.accountOf(this.#app, this.#client.address);
    const lacking = running.isFull ? running.lacks(this.#account, this.#bytes) : undefined;
    running.hold(this.#account, this.#bytes);
    if (lacking === undefined) return;
    this.turnAway = { app: this.#app, reason: reasons[lacking] };
    throw overloaded(options.retryAfterSeconds());
  }

  /** If the app of the request is still unknown, makes the request count against its client's address. */
  countAgainstAddress(): void {
    if (this.#account !== undefined) return;
    const { running } = this.#admissions;
    running.release(undefined, this.#bytes);
    this.#account = running.accountOf(undefined, this.#client.address);
    running.hold(this.#account, this.#bytes);
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    this.countAgainstAddress();
    const { waiting, options } = this.#admissions;
    const account = waiting.accountOf(this.#app, this.#client.address);
    if (waiting.lacks(account, this.#bytes) !== undefined) {
      this.turnAway = { app: this.#app, reason: "waiting" };
      throw tooManyWaiting(options.retryAfterSeconds());
    }
    waiting.hold(account, this.#bytes);
    options.metrics.waiting++;
    this.end();
    try {
      return await wait();
    } finally {
      waiting.release(account, this.#bytes);
      options.metrics.waiting--;
      this.#begin();
    }
  }

  end(): void {
    this.#admissions.running.release(this.#account, this.#bytes);
    this.#admissions.options.metrics.inFlight--;
  }

  #begin(): void {
    this.#admissions.running.hold(this.#account, this.#bytes);
    this.#admissions.options.metrics.inFlight++;
  }
}

/**
 * Counts the bytes of a request body that is arriving. The quota counts the bytes that have arrived, not the length that the request's head
 * announces.
 */
export class ArrivingBody {
  readonly #shares: Shares;
  readonly #app: string | undefined;
  readonly #account: Account;
  #bytes = 0;
  /** The reason why the request body was refused; undefined if the body was not refused. */
  turnAway: TurnAway | undefined;

  constructor(shares: Shares, app: string | undefined, address: string) {
    this.#shares = shares;
    this.#app = app;
    this.#account = shares.accountOf(app, address);
    shares.hold(this.#account, 0);
  }

  /**
   * Reports that `bytes` of the body have arrived so far. Returns false if the quota does not allow this number of bytes; then the caller must stop
   * reading.
   */
  resize(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more > 0 && this.#shares.lacks(this.#account, more) !== undefined) {
      this.turnAway = { app: this.#app, reason: "arriving" };
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
