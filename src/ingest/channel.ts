/**
 * What the ingest process and the server say to each other, over the channel between parent and child. An operator's own media
 * server says the same over HTTP (`src/features/live-videos/ingest/feed.control.ts`).
 */

import type { FeedHealth as HealthInWorld } from "#features/live-videos";
import type { Streaming } from "#graph/worlds/world";

export interface VideoName {
  readonly world: string;
  /** Unique in its world. */
  readonly video: string;
}

export interface FeedName extends VideoName {
  /** Counts the feeds of the video. */
  readonly session: number;
}

/** What a feed is like at the moment. */
export interface FeedHealth extends HealthInWorld {
  readonly world: string;
}

export type ConnectionCounts = NonNullable<Streaming["connections"]>;

/** Why a feed ended, seen from the stream. */
export type FeedEnding = "lost" | "no_audio" | "no_storage";

export interface IngestConfig {
  readonly hostname: string;
  readonly port: number;
  /** RTMPS: a port, and PEM files; undefined: none. */
  readonly secure: { readonly port: number; readonly cert: string; readonly key: string } | undefined;
  /** The folder of the recordings, all that they may take of the disk (0: no bound), and what stays free on it. */
  readonly recordings: string;
  readonly recordings_bytes_max: number;
  readonly disk_reserve_bytes: number;
  /** A stream with more is ended. */
  readonly stream_bits_max: number;
  readonly streams_max: number;
  readonly log_level: "silent" | "error" | "warn" | "info" | "debug";
  readonly pretty: boolean;
}

export type ToServer =
  | { readonly kind: "listening" }
  | { readonly kind: "failed"; readonly message: string }
  /** May an encoder publish with this key? */
  | { readonly kind: "check"; readonly id: number; readonly key: string }
  /** Its first key frame has come. */
  | { readonly kind: "start"; readonly id: number; readonly key: string; readonly width: number; readonly height: number }
  | { readonly kind: "end"; readonly feed: FeedName; readonly ending: FeedEnding }
  | { readonly kind: "refused"; readonly video: VideoName; readonly reason: string }
  /** Once a second: the feeds that send. */
  | { readonly kind: "report"; readonly feeds: readonly FeedHealth[]; readonly connections: ConnectionCounts };

export type ToIngest =
  | { readonly kind: "config"; readonly config: IngestConfig }
  /** To `check` and `start`; without a feed the key opens nothing. `session` is 0 in response to `check`. */
  | { readonly kind: "reply"; readonly id: number; readonly feed: FeedName | undefined }
  /** These feeds may not go on. */
  | { readonly kind: "drop"; readonly feeds: readonly FeedName[] }
  | { readonly kind: "stop" };

/** The server as the ingest process sees it. */
export interface FeedGate {
  check(key: string): Promise<Admission | undefined>;
  start(key: string, size: { readonly width: number; readonly height: number }): Promise<Admission | undefined>;
  end(feed: FeedName, ending: FeedEnding): void;
  /** An encoder with a valid key was refused. `reason` is for people: what is wrong, and what to change. */
  refused(video: VideoName, reason: string): void;
}

export interface Admission {
  readonly feed: FeedName;
}
