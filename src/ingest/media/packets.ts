/** What an encoder sends, and what is recorded of it. */
import type { AacConfig } from "./aac.ts";
import type { VideoConfig } from "./h264.ts";

export type VideoPacket =
  /** An AVCDecoderConfigurationRecord (ISO/IEC 14496-15). */
  | { readonly kind: "config"; readonly bytes: Uint8Array }
  | {
      readonly kind: "frame";
      readonly isKey: boolean;
      /** Milliseconds from decoding to presentation; may be negative. */
      readonly compositionMs: number;
      /** NAL units, each behind its length. */
      readonly bytes: Uint8Array;
    };

export type AudioPacket = { readonly kind: "config"; readonly config: AacConfig } | { readonly kind: "frame"; readonly bytes: Uint8Array };

export interface Picture {
  readonly config: VideoConfig;
  readonly isKey: boolean;
  /** Milliseconds since the beginning of the session. */
  readonly decodeMs: number;
  readonly showMs: number;
  /** NAL units, each behind its length. */
  readonly bytes: Uint8Array;
}

export interface Sound {
  readonly config: AacConfig;
  /** Milliseconds since the beginning of the session. */
  readonly ms: number;
  /** One after the other, without gaps. */
  readonly frames: readonly Uint8Array[];
}
