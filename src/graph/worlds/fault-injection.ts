/** Faults on purpose, by operation (operating.md: Control API): a late response, an error, or both; for a number of requests, or a share of them. */
import { GraphError } from "#kernel/errors";

export interface FaultInput {
  /** An operation, or `*` for all. */
  readonly operation: string;
  /** HTTP status of the error; without one the response is only late. */
  readonly status?: number;
  /** The error's code; 2 unless said otherwise. */
  readonly code?: number;
  readonly latency_ms?: number;
  /** How many requests it affects; without a number, all until it is removed. */
  readonly times?: number;
  /** Which share of the requests it affects, 0 to 1. */
  readonly probability?: number;
}

export interface Fault extends FaultInput {
  readonly id: string;
  /** How many requests it has affected. */
  readonly met: number;
}

export interface FaultTools {
  sleepMs(ms: number): Promise<void>;
  /** From 0 to below 1. */
  randomFraction(): number;
}

export class Faults {
  readonly #tools: FaultTools;
  #faults: { input: FaultInput; id: string; met: number }[] = [];
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

  /** Delays the request, or throws, as the first fault that fits says. */
  async inject(operation: string): Promise<void> {
    const fault = this.#faults.find(({ input }) => input.operation === operation || input.operation === "*");
    if (fault === undefined || this.#tools.randomFraction() >= (fault.input.probability ?? 1)) return;
    fault.met++;
    const { latency_ms, status, times, code = 2 } = fault.input;
    if (times !== undefined && fault.met >= times) this.#faults = this.#faults.filter((other) => other !== fault);
    if (latency_ms !== undefined) await this.#tools.sleepMs(latency_ms);
    if (status !== undefined) throw new InjectedFault(status, code);
  }
}

const shown = ({ input, id, met }: { input: FaultInput; id: string; met: number }): Fault => ({ id, ...input, met });

/** An error that the control API asked for. 429 and 5xx pass, so they are transient (ERR-19). */
class InjectedFault extends GraphError {
  constructor(status: number, code: number) {
    super("internalError", `(#${code}) A fault that was asked for`);
    const isTransient = status === 429 || status >= 500;
    this.entry = { status, code, type: "OAuthException", when: "", ...(isTransient ? { isTransient: true as const } : {}) };
  }
}
