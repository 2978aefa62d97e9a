/** What a connection needs of the server that it belongs to. */
import type { Clock } from "./clock.ts";
import type { ProtocolProblem } from "./problem.ts";
import type { RequestHead } from "./request-head.ts";
import type { TextResponse } from "./response-writer.ts";

export interface ConnectionLimits {
  readonly headBytesMax: number;
  /** From the first byte of a head, or the opening of the connection, to the end of the head. */
  readonly headMsMax: number;
  /** Between two requests, and for a response that the client does not read. */
  readonly keepAliveMs: number;
}

/** `C`: the connection. */
export interface ConnectionOwner<C> {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly isStopping: boolean;
  /** Header lines that every response has, each with its line end. */
  readonly commonHeaderLines: string;
  /** Handles a request: sends one response on `connection`, now or later, and then calls `finish`. Never throws. */
  dispatch(head: RequestHead, connection: C): void;
  /** The response to bytes that are no request. */
  refusal(problem: ProtocolProblem): TextResponse;
  /** The connection holds so many bytes more, or less, that nobody has used yet. It may be aborted at once. */
  held(bytes: number): void;
  closed(connection: C): void;
}
