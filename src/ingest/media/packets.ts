/** What an encoder sends, whatever way it takes: RTMP, or the messages of a web page. */
import type { AacConfig } from "./aac.ts";
import type { OpusConfig } from "./opus.ts";

export type AudioConfig = AacConfig | OpusConfig;

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

export type AudioPacket = { readonly kind: "config"; readonly config: AudioConfig } | { readonly kind: "frame"; readonly bytes: Uint8Array };
