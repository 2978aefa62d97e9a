/**
 * The broadcast of this tab. It goes on while its person looks at other views, and ends with the tab. Its stream key is made here, and
 * is in this tab's memory alone.
 */
import { useSyncExternalStore } from "react";
// The script that the server hands out to any page.
import { type PublisherState, publishLive } from "#live-publisher.mjs";
import { api, authorization, dataOf } from "../../api/client.ts";
import { say, sayProblem } from "../../parts/notices.tsx";
import { createNode, deleteNode } from "../graph/nodes.ts";
import { openSource, type Source, type SourceKind } from "./sources.ts";

export interface Broadcast {
  readonly world: string;
  readonly video: string;
  readonly state: PublisherState;
  readonly source: Source;
}

interface Wish {
  readonly w: string;
  readonly page: string;
  readonly title: string;
  readonly kind: SourceKind;
  /** Where the server takes streams of pages. */
  readonly url: string;
}

let broadcast: Broadcast | undefined;
let stopSending = (): void => {};
const listeners = new Set<() => void>();

function change(next: Broadcast | undefined): void {
  broadcast = next;
  document.title = next?.state === "publishing" ? "● On air: Plaza console" : "Plaza console";
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useBroadcast = (): Broadcast | undefined => useSyncExternalStore(subscribe, () => broadcast);

const KEY_BYTES = 24;

/** Of a world other than the first one, it begins with the world's name (D-261). */
function newKey(w: string): string {
  const secret = [...crypto.getRandomValues(new Uint8Array(KEY_BYTES))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return w === "default" ? secret : `${w}.${secret}`;
}

const endPath = (w: string, id: string): string => `/v1/worlds/${encodeURIComponent(w)}/live-videos/${id}/end`;

/** The id of the live video. Rejects where there is no camera, or the server does not take it. */
export async function goLive({ w, page, title, kind, url }: Wish): Promise<string> {
  const source = await openSource(kind);
  let video: string | undefined;
  try {
    const stream_key = newKey(w);
    const { id } = await createNode(w, "live_videos", { page, ...(title === "" ? {} : { title }), embeddable: true, stream_key });
    video = String(id);
    change({ world: w, video, state: "connecting", source });
    const { stop } = publishLive({ stream: source.stream, url, stream_key, onState: (state, reason) => void moved(state, reason) });
    stopSending = stop;
    return video;
  } catch (error) {
    source.stop();
    change(undefined);
    if (video !== undefined) await deleteNode(w, "live_videos", video).catch(sayProblem);
    throw error;
  }
}

let isPublished = false;

async function moved(state: PublisherState, reason: string): Promise<void> {
  if (broadcast === undefined) return;
  const { world: w, video, source } = broadcast;
  if (state === "ended") {
    source.stop();
    change(undefined);
    if (reason !== "") say(`The broadcast from this tab ended: ${reason}`, true);
    // Nobody has seen it, and nobody else has its key.
    if (!isPublished) await deleteNode(w, "live_videos", video).catch(sayProblem);
    isPublished = false;
    return;
  }
  change({ ...broadcast, state });
  if (state !== "publishing" || isPublished) return;
  isPublished = true;
  await dataOf(api.POST("/v1/worlds/{w}/live-videos/{id}/publish", { params: { path: { w, id: video } } })).catch(sayProblem);
}

/** Ends the broadcast for its viewers too. */
export async function endBroadcast(): Promise<void> {
  if (broadcast === undefined) return;
  const { world: w, video } = broadcast;
  const wasPublished = isPublished;
  stopSending();
  if (wasPublished) await dataOf(api.POST("/v1/worlds/{w}/live-videos/{id}/end", { params: { path: { w, id: video } } }));
}

// A tab that closes waits for nothing, so the browser sends this on its own; the server would wait for the feed otherwise.
addEventListener("pagehide", () => {
  if (broadcast === undefined) return;
  const { world, video } = broadcast;
  if (isPublished) void fetch(endPath(world, video), { method: "POST", keepalive: true, headers: authorization() });
  stopSending();
});
