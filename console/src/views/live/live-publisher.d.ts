/** The types of the script that the server hands out to pages (`src/http/routes/live-publisher.mjs`), of which the console is one. */
declare module "#live-publisher.mjs" {
  export type PublisherState = "connecting" | "publishing" | "reconnecting" | "ended";

  interface Publishing {
    readonly stream: MediaStream;
    readonly url: string;
    readonly stream_key: string;
    readonly onState: (state: PublisherState, reason: string) => void;
  }

  /** Throws for a stream without video or without audio. */
  export function publishLive(options: Publishing): { readonly stop: () => void };
}
