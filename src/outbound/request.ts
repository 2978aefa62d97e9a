/** A request that leaves the server, its response, and why there may be none. */
export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Encoded parameters that are added to those of the URL, of any length. */
  readonly moreQuery?: string;
  /** ASCII; without Host, Content-Length and Connection, which the transport writes. */
  readonly headers: Readonly<Record<string, string>>;
  /** ASCII. */
  readonly body?: string;
  /** For everything: name, connection, TLS, response. Real time. */
  readonly deadlineMs: number;
  /** For a connection to each of its addresses, where that is less than what the whole may take. Real time. */
  readonly connectionMs?: number;
  /** How long the other side may be silent, once it is connected. The time in which `takeBody` is busy does not count. Real time. */
  readonly silenceMs?: number;
  /** A longer response is cut there. */
  readonly responseBytesMax: number;
  /** Gets the body of a 200 as it arrives, which is then not kept. While it is busy, the other side has to wait. */
  readonly takeBody?: TakeBody;
  /**
   * Called when a kept connection was closed after the whole request was sent and before a response began. The other side may have
   * read the request, which is then sent again on another connection.
   */
  readonly onResend?: (error: RequestFailed) => void;
  /** A response counts as soon as its status has arrived in time; if its body has not, it is cut. */
  readonly isStatusEnough?: true;
}

/** It owns the bytes. If it throws, the request ends with that error. */
export type TakeBody = (part: Buffer) => Promise<void>;

export interface OutboundResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly isCut: boolean;
}

export type FailureKind = "dns" | "connect" | "tls" | "timeout" | "closed" | "malformed";

/** No response came; the kind says how far the request got. */
export class RequestFailed extends Error {
  constructor(
    readonly kind: FailureKind,
    problem: string,
  ) {
    super(problem);
    this.name = "RequestFailed";
  }
}
