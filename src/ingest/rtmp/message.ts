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
  /** The stream of the message: 0 is the connection; other numbers are streams that `createStream` made. */
  readonly stream: number;
  /** The milliseconds of the encoder's clock, in 32 bits, which wrap. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** The peer breaks the protocol, does not publish, or exceeds a limit, so its connection ends. */
export class RtmpProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "RtmpProblem";
  }
}

/** The limits for a peer, which are low until its stream key is accepted. */

export interface MessageLimits {
  /** The number of bytes of one message, and of all messages together that arrive interleaved. */
  readonly messageBytesMax: number;
}

/** The limits before the key: a `connect` with all properties that encoders send is smaller than 1 KiB. */
export const BEFORE_KEY: MessageLimits = { messageBytesMax: 16_384 };
/** The limits after the key: a key frame of 4K at 50 Mbit/s has about 3 MiB. */
export const AFTER_KEY: MessageLimits = { messageBytesMax: 8 * 1024 * 1024 };

/** The number of chunk streams of a connection; encoders use 3 to 6. */
export const CHUNK_STREAMS_MAX = 16;
/** The length of a stream key. Plaza's keys are much shorter: 24 characters and the name of a world. */
export const KEY_CHARACTERS_MAX = 256;
/** The number of streams of a connection. An encoder creates one; some create a second one after an error. */
export const STREAMS_MAX = 8;
/** The number of commands before a key is accepted; an encoder sends about 6. */
export const COMMANDS_BEFORE_KEY_MAX = 32;

/** The depth of nested AMF0 values; encoders send a depth of 2. */
export const AMF_DEPTH_MAX = 8;
/** The number of AMF0 values in one message; `onMetaData` has about 30. */
export const AMF_VALUES_MAX = 512;
