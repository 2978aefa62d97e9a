/** The types of a request that the server sends to another server, of its response, and of the error if no response arrives. */
export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Encoded parameters, of any length, that are appended to the query of the URL. */
  readonly moreQuery?: string;
  /**
   * The headers of the request, in ASCII. The list does not have the headers Host, Content-Length and Connection, because the transport writes them.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the request, in ASCII. */
  readonly body?: string;
  /** The real time in ms that the whole request may take: resolving the name, connecting, TLS and the response. */
  readonly deadlineMs: number;
  /** The real time in ms that connecting to each address may take, if it is shorter than the deadline. */
  readonly connectionMs?: number;
  /**
   * The longest real time in ms in which no byte arrives from the other server after the connection is open. Time in which `takeBody` is busy does
   * not count.
   */
  readonly silenceMs?: number;
  /** The number of response bytes that are read; a longer response is cut. */
  readonly responseBytesMax: number;
  /**
   * Receives the body of a response with the status 200 while the body arrives. A body that `takeBody` receives is not stored in the response. While
   * the function `takeBody` is busy, the client reads no further bytes, so the other server has to wait.
   */
  readonly takeBody?: TakeBody;
  /**
   * Called if an idle connection from the pool was closed after the whole request was sent and before a response began. The other server may have
   * read the request, which is then sent again on another connection.
   */
  readonly onResend?: (error: RequestFailed) => void;
  /** Whether a request succeeds as soon as the response's status has arrived in time. A body that arrives too late is cut. */
  readonly isStatusEnough?: true;
}

/**
 * A function that receives a piece of a response body, and may keep the bytes of the piece. If the function rejects, the request ends with that
 * error.
 */
export type TakeBody = (part: Buffer) => Promise<void>;

export interface OutboundResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly isCut: boolean;
}

export type FailureKind = "dns" | "connect" | "tls" | "timeout" | "closed" | "malformed";

/** The error if no response arrived. The property `kind` says at which step the request failed. */
export class RequestFailed extends Error {
  constructor(
    readonly kind: FailureKind,
    problem: string,
  ) {
    super(problem);
    this.name = "RequestFailed";
  }
}
