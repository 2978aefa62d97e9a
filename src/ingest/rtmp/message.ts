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
  /** 0 for the connection, else a stream that `createStream` made. */
  readonly stream: number;
  /** Milliseconds on the encoder's own clock, 32 bits; it may wrap. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** The peer does not speak RTMP as a publisher does, or wants more than it may have. The connection ends. */
export class RtmpProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "RtmpProblem";
  }
}

/** What a peer of the RTMP port may send. All of it is bounded, and little is allowed before a stream key was accepted. */

export interface MessageLimits {
  /** Of one message, and of all that arrive interleaved at a time. */
  readonly messageBytesMax: number;
}

/** `connect` with every property that encoders send has less than 1 KiB. */
export const BEFORE_KEY: MessageLimits = { messageBytesMax: 16_384 };
/** A key frame of 4K at 50 Mbit/s has some 3 MiB. */
export const AFTER_KEY: MessageLimits = { messageBytesMax: 8 * 1024 * 1024 };

/** Encoders use 3 to 6 chunk streams. */
export const CHUNK_STREAMS_MAX = 16;
/** A key of 24 characters is far below; an id that long is an attempt at something else. */
export const KEY_CHARACTERS_MAX = 256;
/** An encoder creates one stream; some create a second one after an error. */
export const STREAMS_MAX = 8;
/** Commands before a key was accepted: an encoder sends some 6. */
export const COMMANDS_BEFORE_KEY_MAX = 32;

/** Nesting of AMF0; encoders send 2. */
export const AMF_DEPTH_MAX = 8;
/** Values in one message of AMF0. `onMetaData` has some 30. */
export const AMF_VALUES_MAX = 512;
