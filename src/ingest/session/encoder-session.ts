/** What a connection speaks: RTMP, or the WebSocket of a page. */

/** `key`: it opens nothing, or is in use. `feed`: what was sent cannot go on. */
export type Refusal = "key" | "feed";

export interface EncoderSession {
  readonly isPublishing: boolean;
  /** Throws `RtmpProblem`, after which the connection must be closed, or `MediaProblem`. */
  received(bytes: Uint8Array): void;
  /** The key is valid: media may come. */
  admit(): void;
  /** The peer reads the reason, and the connection ends. */
  refuse(what: Refusal, reason: string): void;
}
