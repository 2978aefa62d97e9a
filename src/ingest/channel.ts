/**
 * The messages between the ingest process and the server, which is its parent process. An operator's own media server reports about encoders over
 * HTTP instead (`src/features/live-videos/ingest/feed.control.ts`).
 */

import type { FeedHealth as HealthInWorld } from "#features/live-videos";
import type { Streaming } from "#graph/worlds/world";

export interface VideoName {
  readonly world: string;
  /** The video's id, which is unique in its world. */
  readonly video: string;
}

export interface FeedName extends VideoName {
  /** The number that identifies the feed among all feeds of the video. */
  readonly session: number;
}

/** The current quality of a feed. */
export interface FeedHealth extends HealthInWorld {
  readonly world: string;
}

export type ConnectionCounts = NonNullable<Streaming["connections"]>;

/** The reason why a feed ended. */
export type FeedEnding = "lost" | "no_audio" | "no_storage";

export interface IngestConfig {
  readonly hostname: string;
  readonly port: number;
  /** The port of RTMPS, and the paths of its PEM files; undefined if the process does not serve RTMPS. */
  readonly secure: { readonly port: number; readonly cert: string; readonly key: string } | undefined;
  /**
   * The folder of the recordings. The next two fields are the disk space that recordings may use (0: no limit), and the disk space that must stay
   * free.
   */
  readonly recordings: string;
  readonly recordings_bytes_max: number;
  readonly disk_reserve_bytes: number;
  /** The highest allowed bit rate of a stream. The process ends a stream with a higher bit rate. */
  readonly stream_bits_max: number;
  readonly streams_max: number;
  readonly log_level: "silent" | "error" | "warn" | "info" | "debug";
  readonly pretty: boolean;
}

export type ToServer =
  | { readonly kind: "listening" }
  | { readonly kind: "failed"; readonly message: string }
  /** Asks whether an encoder may publish with this key. */
  | { readonly kind: "check"; readonly id: number; readonly key: string }
  /** Tells the server that the first key frame has arrived, so that the feed begins. */
  | { readonly kind: "start"; readonly id: number; readonly key: string; readonly width: number; readonly height: number }
  | { readonly kind: "end"; readonly feed: FeedName; readonly ending: FeedEnding }
  | { readonly kind: "refused"; readonly video: VideoName; readonly reason: string }
  /** The message that is sent once a second, with all feeds whose encoders send. */
  | { readonly kind: "report"; readonly feeds: readonly FeedHealth[]; readonly connections: ConnectionCounts };

export type ToIngest =
  | { readonly kind: "config"; readonly config: IngestConfig }
  /** The reply to `check` and `start`. `feed` is undefined if the key is unknown. `session` is 0 in the reply to `check`. */
  | { readonly kind: "reply"; readonly id: number; readonly feed: FeedName | undefined }
  /** Tells the process to end these feeds. */
  | { readonly kind: "drop"; readonly feeds: readonly FeedName[] }
  | { readonly kind: "stop" };

/** The methods of the server that the ingest process calls. */
export interface FeedGate {
  check(key: string): Promise<Admission | undefined>;
  start(key: string, size: { readonly width: number; readonly height: number }): Promise<Admission | undefined>;
  end(feed: FeedName, ending: FeedEnding): void;
  /** Reports that an encoder with a valid key was refused. `reason` tells people what is wrong with the stream and how to correct it. */
  refused(video: VideoName, reason: string): void;
}

export interface Admission {
  readonly feed: FeedName;
}
