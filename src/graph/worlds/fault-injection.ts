/** Injected faults (D-150). A fault says which requests or webhooks it affects, how often, and how. */
import { appRateLimited, edgeRateLimited, GraphError } from "#kernel/errors";
import type { DeliveryFault, FaultyPost } from "#webhooks/deps";
import { appUsage, caseUsage } from "../response/usage.ts";

interface Limits {
  /**
   * The number of requests or webhooks that the fault affects. By default a fault affects all matching requests or webhooks until the fault is
   * removed.
   */
  readonly times?: number;
  /** The fraction of the matching requests or webhooks that the fault affects, from 0 to 1. */
  readonly probability?: number;
  /** The number of matching requests or webhooks that stay unaffected before the fault begins. Webhooks in one POST are counted one by one. */
  readonly skip?: number;
  /** The real time in ms for which the fault stays active after it has affected the first request or webhook. */
  readonly lasts_ms?: number;
}

export interface RequestFaultInput extends Limits {
  /** The name of the operation that the fault affects, or `*` for all operations. */
  readonly operation: string;
  /** The id of the node whose requests the fault affects. If the node's id is absent, the fault affects requests for any node. */
  readonly node?: string;
  /** Parameters that a request must have in the query or the body, with their values, to be affected by the fault. */
  readonly query?: Readonly<Record<string, string>>;
  /** The id of a token that a request must have to be affected by the fault. */
  readonly token?: string;
  /** The HTTP status of the fault's error. The affected request gets this error, and its operation does not run. */
  readonly status?: number;
  /** The code of the fault's error, by default 2. */
  readonly code?: number;
  /** Makes the request fail as if the rate limit of the app or of the page were exceeded (D-22). */
  readonly rate_limit?: "app" | "page";
  readonly retry_after_seconds?: number;
  readonly latency_ms?: number;
  /** The greatest number of items that the fault leaves on a page of a list. */
  readonly page_max?: number;
  /** A text that the client gets in place of the body of the response. */
  readonly body?: string;
  readonly content_type?: string;
  /** Whether the tokens of the request are revoked before the operation runs. */
  readonly revoke_tokens?: boolean;
  /** The number of seconds by which the world's clock is moved forward before the operation runs. */
  readonly advance_seconds?: number;
  /**
   * Whether the server resets the connection instead of sending a response. With `cut_body_at`, the connection is reset after this number of bytes of
   * the body.
   */
  readonly reset?: boolean;
  /** The number of bytes of the response body after which the server closes the connection. */
  readonly cut_body_at?: number;
  readonly body_bytes_per_second?: number;
}

export interface WebhookFaultInput extends Limits {
  /** The name of the webhook field that the fault affects, or `*` for all fields. */
  readonly webhook: string;
  /** The id of the page or account about which the affected webhook is. */
  readonly node?: string;
  /**
   * `lose`: the fault never sends the webhook. `repeat`: the fault sends the webhook twice. `reorder`: the fault sends the webhook after a later
   * webhook. `delay`: the fault sends the webhook and later ones of its page or account late. `batch`: the fault makes the webhook wait, so that
   * later ones are sent in the same POST.
   */
  readonly effect: "lose" | "repeat" | "reorder" | "delay" | "batch";
  /** The real time in ms for which an affected webhook waits. If no time is given, a reordered webhook is retried as after a failed attempt. */
  readonly latency_ms?: number;
}

export type FaultInput = RequestFaultInput | WebhookFaultInput;

/** A fault that affects a request or webhook, with the id of the fault. */
export type AppliedFault<T extends FaultInput> = T & { readonly id: string };

export type Fault = FaultInput & {
  readonly id: string;
  /** The number of requests or webhooks that the fault has affected. */
  readonly met: number;
};

/** The facts about a request by which the server finds the fault that matches. */
export interface FaultTarget {
  readonly operation: string;
  readonly node: string | undefined;
  /** The ids of the request's tokens. */
  readonly tokens: readonly string[];
  /** The value of a parameter of the query or the body, as text. Undefined if the client did not send the parameter. */
  parameter(name: string): string | undefined;
  /** Whether the request is one of the requests of a batch. A request in a batch has no HTTP response of its own that a fault could damage. */
  readonly isPart: boolean;
}

export interface FaultTools {
  sleepMs(ms: number): Promise<void>;
  /** Returns a random number that is at least 0 and less than 1. */
  randomFraction(): number;
  /** The machine's time in ms, for faults that last for some real time. */
  monotonicMs(): number;
}

interface Kept {
  readonly input: FaultInput;
  readonly id: string;
  met: number;
  /** The number of matching requests or webhooks so far. */
  matched: number;
  /** The real time at which the fault ends. The end of the fault is undefined until the fault has affected a request or webhook. */
  endMs: number | undefined;
}

/** A reordered webhook that waits until a later webhook of the same callback was delivered. */
interface Following {
  readonly callback: string;
  readonly passed: PromiseWithResolvers<void>;
}

/** The greatest number of faults in a world. Tests need fewer faults, and the server compares every request with each fault. */
export const FAULTS_MAX = 100;
/** The value of Retry-After in the error of an exceeded rate limit: a minute, which a test can wait for. */
const RETRY_AFTER_SECONDS = 60;
/** The default time for which a webhook waits. During this time other webhooks can arrive. */
const WEBHOOK_LATENCY_MS = 1_000;

export class Faults {
  readonly #tools: FaultTools;
  #faults: Kept[] = [];
  #count = 0;
  /** The reordered webhooks that wait, by the ids of their deliveries. */
  readonly #following = new Map<string, Following>();
  /** The deliveries that have waited for other deliveries and will soon be claimed again. */
  readonly #batched = new Set<string>();

  constructor(tools: FaultTools) {
    this.#tools = tools;
  }

  add(input: FaultInput): Fault {
    const fault = { input, id: String(++this.#count), met: 0, matched: 0, endMs: undefined };
    this.#faults.push(fault);
    return shown(fault);
  }

  list(): Fault[] {
    return this.#faults.map(shown);
  }

  clear(): void {
    this.#faults = [];
    for (const { passed } of this.#following.values()) passed.resolve();
    this.#following.clear();
    this.#batched.clear();
  }

  /** Whether the world has no faults. Every request makes this check, so the check must be cheap. */
  get isEmpty(): boolean {
    return this.#faults.length === 0 && this.#following.size + this.#batched.size === 0;
  }

  /** Resolves with the first fault that matches the request, after the fault's latency. Resolves with undefined if no fault matches. */
  async match(target: FaultTarget): Promise<AppliedFault<RequestFaultInput> | undefined> {
    const input = this.#matchFirst<RequestFaultInput>(
      (one) => ("operation" in one && isOf(one, target) ? 1 : 0),
      (one) => !(target.isPart && changesResponse(one)),
    );
    if (input?.latency_ms !== undefined) await this.#tools.sleepMs(input.latency_ms);
    return input;
  }

  /** Resolves with the effect of the first matching fault on a POST of webhooks, after the POST has waited for the fault's time. */
  async matchWebhook(post: FaultyPost): Promise<DeliveryFault | undefined> {
    const { delivery, callback, fields, entity, isRetry } = post;
    await this.#following.get(delivery)?.passed.promise;
    this.#following.delete(delivery);
    const isFirst = !this.#batched.delete(delivery) && !isRetry;
    const fault = this.#matchFirst<WebhookFaultInput>((one) => {
      if (!("webhook" in one) || (one.node ?? entity) !== entity) return 0;
      if (!isFirst && one.effect !== "lose" && one.effect !== "repeat") return 0;
      return fields.filter((field) => one.webhook === "*" || one.webhook === field).length;
    });
    if (fault === undefined) return undefined;
    const { effect, latency_ms } = fault;
    if (effect === "reorder" && latency_ms !== undefined) {
      const passed = Promise.withResolvers<void>();
      this.#following.set(delivery, { callback, passed });
      void this.#tools.sleepMs(latency_ms).then(passed.resolve);
      return "follow";
    }
    if (effect !== "delay" && effect !== "batch") return effect;
    await this.#tools.sleepMs(latency_ms ?? WEBHOOK_LATENCY_MS);
    if (effect === "delay") return undefined;
    this.#batched.add(delivery);
    return effect;
  }

  /** Called after a POST of webhooks was delivered. Reordered webhooks of the same callback are sent after this delivery. */
  delivered({ delivery, callback }: FaultyPost): void {
    for (const [id, one] of this.#following) if (id !== delivery && one.callback === callback) one.passed.resolve();
  }

  /**
   * Finds the first fault that matches the request or webhook. `countOf` returns the number of requests or webhooks that match a fault. `canAffect`
   * returns false for a fault that counts the request but cannot affect it, because the request is in a batch and has no own response.
   */
  #matchFirst<T extends FaultInput>(countOf: (input: FaultInput) => number, canAffect: (input: T) => boolean = () => true) {
    const { randomFraction, monotonicMs } = this.#tools;
    const nowMs = monotonicMs();
    let found: AppliedFault<T> | undefined;
    for (const fault of this.#faults) {
      const input = fault.input as T;
      const isOver = fault.endMs !== undefined && nowMs >= fault.endMs;
      if (isOver) this.#remove(fault);
      const count = isOver ? 0 : countOf(input);
      // A fault with `skip` also counts requests that another fault affects.
      fault.matched += count;
      const canBegin = count > 0 && fault.matched > (input.skip ?? 0) && canAffect(input);
      if (canBegin && found === undefined && randomFraction() < (input.probability ?? 1)) found = this.#apply(fault, input, nowMs);
    }
    return found;
  }

  #apply<T extends FaultInput>(fault: Kept, input: T, nowMs: number): AppliedFault<T> {
    fault.met++;
    if (input.lasts_ms !== undefined) fault.endMs ??= nowMs + input.lasts_ms;
    if (input.times !== undefined && fault.met >= input.times) this.#remove(fault);
    return { ...input, id: fault.id };
  }

  #remove(fault: Kept): void {
    this.#faults = this.#faults.filter((other) => other !== fault);
  }
}

const shown = ({ input, id, met }: Kept): Fault => ({ id, ...input, met });

function isOf(fault: RequestFaultInput, target: FaultTarget): boolean {
  const { operation, node, query = {}, token } = fault;
  return (
    (operation === target.operation || operation === "*") &&
    (node === undefined || node === target.node) &&
    (token === undefined || target.tokens.includes(token)) &&
    Object.entries(query).every(([name, value]) => target.parameter(name) === value)
  );
}

/** Whether the fault changes the world before the operation runs. If the fault changes the world, the tokens of the request are checked again. */
export const changesWorld = ({ revoke_tokens, advance_seconds }: RequestFaultInput): boolean =>
  revoke_tokens === true || advance_seconds !== undefined;

export const changesResponse = ({ body, reset, cut_body_at, body_bytes_per_second }: RequestFaultInput): boolean =>
  reset === true || body !== undefined || cut_body_at !== undefined || body_bytes_per_second !== undefined;

/**
 * The error of the fault that the request gets in place of the operation. Undefined if the fault lets the operation run. `owner` is the node against
 * whose rate limit the request counts.
 */
export function errorOf({ status, code = 2, rate_limit, retry_after_seconds: asked }: RequestFaultInput, owner: string): GraphError | undefined {
  const retry_after_seconds = asked ?? RETRY_AFTER_SECONDS;
  const waitMinutes = Math.ceil(retry_after_seconds / 60);
  if (rate_limit === "app") return appRateLimited(retry_after_seconds, { "x-app-usage": appUsage(USED_UP) });
  if (rate_limit === "page") return edgeRateLimited(retry_after_seconds, { "x-business-use-case-usage": caseUsage(owner, USED_UP, waitMinutes) });
  return status === undefined ? undefined : new InjectedFault(status, code, asked);
}

/** D-22: the usage, in percent, that the response shows when a rate limit is exceeded. */
const USED_UP = 100;

/** The error that a caller of the control API has defined for a fault. Errors with the status 429 or 5xx are transient (ERR-19). */
class InjectedFault extends GraphError {
  constructor(status: number, code: number, retryAfterSeconds: number | undefined) {
    super(
      "internalError",
      `(#${code}) An injected fault`,
      retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(retryAfterSeconds) } },
    );
    const isTransient = status === 429 || status >= 500;
    this.entry = { status, code, type: "OAuthException", when: "", mend: "", ...(isTransient ? { isTransient: true as const } : {}) };
  }
}
