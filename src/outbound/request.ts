/** A request that leaves the server, its response, and the reason if no response comes. */
export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Encoded parameters, of any length, that are added to the parameters of the URL. */
  readonly moreQuery?: string;
  /** The headers, in ASCII, without Host, Content-Length and Connection, which the transport writes. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, in ASCII. */
  readonly body?: string;
  /** The real time that the whole request may take: name, connection, TLS and response. */
  readonly deadlineMs: number;
  /** The real time that connecting to each address may take, if it is less than the deadline of the whole request. */
  readonly connectionMs?: number;
  /** The real time for which the other server may be silent after the connection is open. Time in which `takeBody` is busy does not count. */
  readonly silenceMs?: number;
  /** The number of bytes after which a longer response is cut. */
  readonly responseBytesMax: number;
  /** Receives the body of a 200 response as it arrives; such a body is not kept. While `takeBody` is busy, the other side has to wait. */
  readonly takeBody?: TakeBody;
  /**
   * Called when a kept connection was closed after the whole request was sent and before a response began. The other side may have read the request,
   * which is then sent again on another connection.
   */
  readonly onResend?: (error: RequestFailed) => void;
  /** Whether a response counts as soon as its status has arrived in time; if the body arrives too late, it is cut. */
  readonly isStatusEnough?: true;
}

/** Takes a part of the body, and owns its bytes. If it throws, the request ends with that error. */
export type TakeBody = (part: Buffer) => Promise<void>;

export interface OutboundResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly isCut: boolean;
}

export type FailureKind = "dns" | "connect" | "tls" | "timeout" | "closed" | "malformed";

/** No response came; `kind` says how far the request got. */
export class RequestFailed extends Error {
  constructor(
    readonly kind: FailureKind,
    problem: string,
  ) {
    super(problem);
    this.name = "RequestFailed";
  }
}
