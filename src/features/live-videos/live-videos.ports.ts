/** What contracts and policies, which know no store, ask of live videos. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";

interface LiveVideoPort {
  /** Whether people are shown the video: it is or was live, and was not taken down. */
  isShown(reader: Reader, originalPage: NodeId, video: NodeId): Promise<boolean>;
  /** LIVE-25: for each of the videos the pages, beside the original one, that show it. */
  crosspostedPages(reader: Reader, videos: readonly { readonly page: string; readonly id: string }[]): Promise<readonly (readonly NodeId[])[]>;
  /** Those of them that may read it. */
  readingPages(reader: Reader, originalPage: NodeId, video: NodeId): Promise<readonly NodeId[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    live_video: LiveVideoPort;
  }
}
