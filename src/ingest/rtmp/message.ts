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
  Aggregate: 22,
} as const;

export interface Message {
  readonly type: number;
  /** The id of the message's stream. The id 0 means the connection itself; `createStream` creates other streams. */
  readonly stream: number;
  /** The time of the encoder's clock, in ms. The number has 32 bits and wraps. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/**
 * The error of a peer that breaks the protocol, does not publish, or exceeds a limit. The server closes the connection of a peer that causes this
 * error.
 */
export class RtmpProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "RtmpProblem";
  }
}

/** The limits for a peer. These limits are low until the server accepts the peer's stream key. */

export interface MessageLimits {
  /** The limit of bytes of one message, and of all incomplete messages together. */
  readonly messageBytesMax: number;
}

/** The limits before the stream key is accepted. A `connect` with all properties that encoders send is smaller than 1 KiB. */
export const BEFORE_KEY: MessageLimits = { messageBytesMax: 16_384 };
/** The limits after the stream key is accepted. A key frame of 4K video at 50 Mbit/s has about 3 MiB. */
export const AFTER_KEY: MessageLimits = { messageBytesMax: 8 * 1024 * 1024 };

/** The greatest number of chunk streams of a connection; encoders use 3 to 6. */
export const CHUNK_STREAMS_MAX = 16;
/** The greatest length of a stream key. Plaza's keys are much shorter: 24 characters and the name of a world. */
export const KEY_CHARACTERS_MAX = 256;
/** The greatest number of streams of a connection. An encoder creates one stream, and sometimes a second stream after an error. */
export const STREAMS_MAX = 8;
/** The greatest number of commands before a key is accepted; an encoder sends about 6 commands. */
export const COMMANDS_BEFORE_KEY_MAX = 32;

/** The greatest depth of nested AMF0 values; encoders send values with a depth of 2. */
export const AMF_DEPTH_MAX = 8;
/** The greatest number of AMF0 values in one message; `onMetaData` has about 30. */
export const AMF_VALUES_MAX = 512;
