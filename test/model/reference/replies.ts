/** The replies that the model expects. */
import type { Failure } from "./errors.ts";

/**
 * A placeholder in the body of an expected reply, for a value that the interface leaves to the server. `accept` may remember the actual value of the
 * response for later.
 */
export class Hole {
  constructor(
    readonly description: string,
    /** Checks the actual value in the response. The function returns the problem, or undefined if there is none. */
    readonly accept: (actual: unknown) => string | undefined,
  ) {}
}

export interface Success {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Reply = Success | Failure;

export const isFailure = (reply: Reply): reply is Failure => "error" in reply;

export const anyText = new Hole("a text", (actual) => (typeof actual === "string" ? undefined : "it is not a text"));

export const success = (body: unknown): Success => ({ status: 200, body });
