/** The replies that the model expects. */
import type { Failure } from "./errors.ts";

/** A placeholder in a body for a value that the interface leaves to the server. `accept` may remember the actual value. */
export class Hole {
  constructor(
    readonly description: string,
    /** Checks the actual value. Returns the problem, or undefined. */
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
