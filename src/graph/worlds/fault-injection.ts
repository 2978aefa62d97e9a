/** Faults on purpose (D-150): which requests and webhooks they hit, and what they do to them; for a number of times, or a share. */
import { appRateLimited, edgeRateLimited, GraphError } from "#kernel/errors";
import { appUsage, caseUsage } from "../response/usage.ts";

interface Limits {
  /** How many it affects; without a number, all until it is removed. */
  readonly times?: number;
  /** Which share of those that it matches it affects, 0 to 1. */
  readonly probability?: number;
}

export interface RequestFaultInput extends Limits {
  /** An operation, or `*` for all. */
  readonly operation: string;
  /** The id of the node that is addressed. */
  readonly node?: string;
  /** Parameters with their values, in the query or the body. */
  readonly query?: Readonly<Record<string, string>>;
  /** A token's id. */
  readonly token?: string;
  /** HTTP status of the error, in place of the operation. */
  readonly status?: number;
  /** The error's code; 2 unless said otherwise. */
  readonly code?: number;
  /** The error of a rate that is used up (D-22): the app's, or the page's. */
  readonly rate_limit?: "app" | "page";
  readonly retry_after_seconds?: number;
  readonly latency_ms?: number;
  /** In place of the response's own text. */
  readonly body?: string;
  readonly content_type?: string;
  /** The connection is reset in place of a response. */
  readonly reset?: boolean;
  /** The connection ends after so many bytes of the body. */
  readonly cut_body_at?: number;
  readonly body_bytes_per_second?: number;
}

export interface WebhookFaultInput extends Limits {
  /** A field, or `*` for all. */
  readonly webhook: string;
  /** The id of the page or account that the webhook is about. */
  readonly node?: string;
  /** It is never sent, sent twice, or sent after later ones. */
  readonly effect: "lose" | "repeat" | "reorder";
}

export type FaultInput = RequestFaultInput | WebhookFaultInput;

/** One that applies now, with its id. */
export type Met<T extends FaultInput> = T & { readonly id: string };

export type Fault = FaultInput & {
  readonly id: string;
  /** How many requests or webhooks it has affected. */
  readonly met: number;
};

/** A request as faults see it. */
export interface FaultTarget {
  readonly operation: string;
  readonly node: string | undefined;
  /** Ids. */
  readonly tokens: readonly string[];
  /** Of the query or the body, as text; undefined: not sent. */
  parameter(name: string): string | undefined;
  /** It is one request of a batch: nothing can happen to a response of its own. */
  readonly isPart: boolean;
}

export interface FaultTools {
  sleepMs(ms: number): Promise<void>;
  /** From 0 to below 1. */
  randomFraction(): number;
}

interface Kept {
  readonly input: FaultInput;
  readonly id: string;
  met: number;
}

/** More than a test has a use for; every request is compared with each. */
export const FAULTS_MAX = 100;
/** A minute: what clients that honour Retry-After wait in a test. */
const RETRY_AFTER_SECONDS = 60;

export class Faults {
  readonly #tools: FaultTools;
  #faults: Kept[] = [];
  #count = 0;

  constructor(tools: FaultTools) {
    this.#tools = tools;
  }

  add(input: FaultInput): Fault {
    const fault = { input, id: String(++this.#count), met: 0 };
    this.#faults.push(fault);
    return shown(fault);
  }

  list(): Fault[] {
    return this.#faults.map(shown);
  }

  clear(): void {
    this.#faults = [];
  }

  /** Asked on every request, and nearly always true. */
  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  /** What the first fault that matches does to the request, once its latency has passed. */
  async meet(target: FaultTarget): Promise<Met<RequestFaultInput> | undefined> {
    const input = this.#strike((one): one is RequestFaultInput => "operation" in one && isOf(one, target));
    if (input?.latency_ms !== undefined) await this.#tools.sleepMs(input.latency_ms);
    return input;
  }

  /** What the first fault that matches does to a POST of webhooks that is about to be sent, with all that travels in it. */
  meetWebhook(fields: readonly string[], entity: string, canReorder: boolean): WebhookFaultInput["effect"] | undefined {
    return this.#strike(
      (one): one is WebhookFaultInput =>
        "webhook" in one &&
        (one.webhook === "*" || fields.includes(one.webhook)) &&
        (one.node === undefined || one.node === entity) &&
        (canReorder || one.effect !== "reorder"),
    )?.effect;
  }

  #strike<T extends FaultInput>(isMatch: (input: FaultInput) => input is T): Met<T> | undefined {
    const { randomFraction } = this.#tools;
    for (const fault of this.#faults) {
      const { input } = fault;
      if (!isMatch(input) || randomFraction() >= (input.probability ?? 1)) continue;
      fault.met++;
      if (input.times !== undefined && fault.met >= input.times) this.#faults = this.#faults.filter((other) => other !== fault);
      return { ...input, id: fault.id };
    }
    return undefined;
  }
}

const shown = ({ input, id, met }: Kept): Fault => ({ id, ...input, met });

function isOf(fault: RequestFaultInput, target: FaultTarget): boolean {
  const { operation, node, query = {}, token } = fault;
  return (
    (operation === target.operation || operation === "*") &&
    (node === undefined || node === target.node) &&
    (token === undefined || target.tokens.includes(token)) &&
    Object.entries(query).every(([name, value]) => target.parameter(name) === value) &&
    !(target.isPart && changesResponse(fault))
  );
}

export const changesResponse = ({ body, reset, cut_body_at, body_bytes_per_second }: RequestFaultInput): boolean =>
  reset === true || body !== undefined || cut_body_at !== undefined || body_bytes_per_second !== undefined;

/** The error in place of the operation; undefined: the operation runs. `owner` is the node that the request is counted for. */
export function errorOf(
  { status, code = 2, rate_limit, retry_after_seconds = RETRY_AFTER_SECONDS }: RequestFaultInput,
  owner: string,
): GraphError | undefined {
  const waitMinutes = Math.ceil(retry_after_seconds / 60);
  if (rate_limit === "app") return appRateLimited(retry_after_seconds, { "x-app-usage": appUsage(USED_UP) });
  if (rate_limit === "page") return edgeRateLimited(retry_after_seconds, { "x-business-use-case-usage": caseUsage(owner, USED_UP, waitMinutes) });
  return status === undefined ? undefined : new InjectedFault(status, code);
}

/** D-22: in percent. */
const USED_UP = 100;

/** An error that the control API asked for. 429 and 5xx pass, so they are transient (ERR-19). */
class InjectedFault extends GraphError {
  constructor(status: number, code: number) {
    super("internalError", `(#${code}) A fault that was asked for`);
    const isTransient = status === 429 || status >= 500;
    this.entry = { status, code, type: "OAuthException", when: "", ...(isTransient ? { isTransient: true as const } : {}) };
  }
}
