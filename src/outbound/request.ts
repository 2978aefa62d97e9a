/** The words of a call that leaves the server. */
export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Encoded parameters after those that the URL has, of any length. */
  readonly moreQuery?: string;
  /** ASCII; without Host, Content-Length and Connection, which the client writes. */
  readonly headers: Readonly<Record<string, string>>;
  /** ASCII. */
  readonly body?: string;
  /** For the whole request: name, connection, TLS, answer. Real time. */
  readonly deadlineMs: number;
  /** What is kept of the response; a longer one is cut there. */
  readonly responseBytesMax: number;
  /** Given the body of a 200 as it comes, which is then not kept; while it is busy, the other side has to wait. */
  readonly takeBody?: TakeBody;
  /** A response whose status came in time is one, also when its body did not; it is cut then. */
  readonly isStatusEnough?: true;
}

/** The bytes are its own. A throw ends the request. */
export type TakeBody = (part: Buffer) => Promise<void>;

export interface OutboundResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly isCut: boolean;
}
