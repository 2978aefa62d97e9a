/** A message of RTMP (section 6 of the specification, Adobe, 2012). */

export const MessageType = {
  SetChunkSize: 1,
  Abort: 2,
  Acknowledgement: 3,
  UserControl: 4,
  WindowAckSize: 5,
  SetPeerBandwidth: 6,
  Audio: 8,
  Video: 9,
  DataAmf3: 15,
  CommandAmf3: 17,
  Data: 18,
  Command: 20,
} as const;

export interface Message {
  readonly type: number;
  /** 0 for the connection, else a stream that `createStream` made. */
  readonly stream: number;
  /** Milliseconds on the encoder's own clock, 32 bits; it may wrap. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}
