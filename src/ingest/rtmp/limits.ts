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
