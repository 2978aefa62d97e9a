/** The types of `live-publisher.mjs`, for a page that is bundled with it: the console. */

export interface Publishing {
  readonly stream: MediaStream;
  readonly stream_url?: string;
  readonly url?: string;
  readonly stream_key?: string;
  readonly video_bits?: number;
  readonly audio_bits?: number;
  readonly onState?: (state: PublisherState, reason: string) => void;
}

export type PublisherState = "connecting" | "publishing" | "reconnecting" | "ended";

/** Throws for a stream without video or without audio. */
export function publishLive(options: Publishing): { readonly stop: () => void };

/** When the packets of an encoder of sound were heard; microseconds. */
export class SoundTimes {
  give(us: number, durationUs: number): void;
  take(durationUs: number): number;
}
