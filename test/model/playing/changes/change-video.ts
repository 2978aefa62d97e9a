/** Makes the changes of encoders and operators to live videos, in the server and in the model. */
import type { LiveStep } from "../../histories/steps.ts";
import { announce, isAnythingDue, type LiveEvent, move, passDeadlines, restoreNotice, takesFeed } from "../../reference/areas/live-states.ts";
import type { LiveVideo } from "../../reference/nodes.ts";
import type { World } from "../../reference/world.ts";
import { idOf } from "../resolve.ts";
import type { Scene, Stage } from "../scene.ts";
import type { Servers } from "../servers.ts";

const FEED_EVENTS: Readonly<Record<string, LiveEvent>> = {
  started: "feed_started",
  lost: "feed_lost",
  ended: "feed_lost",
  no_audio: "audio_missing",
};

/** Waits until the server has done all due work, which the server does in the background. */
export async function letTimePass(servers: Servers, { world, place }: Scene): Promise<void> {
  await servers.control("POST", `worlds/${place}/clock/advance`, { seconds: 0 });
  passDeadlines(world);
}

interface Order {
  readonly method: "POST" | "PUT";
  readonly body?: unknown;
  /** Makes the change in the model. Returns whether the state of the video allows the change. */
  readonly happens: (video: LiveVideo) => boolean;
}

function orderOf(world: World, { what, fields }: LiveStep, known: LiveVideo | undefined): Order {
  const moves = (event: LiveEvent, reason?: string) => (video: LiveVideo) => {
    const heard = move(video, event, world.now, reason);
    announce(world, heard ?? []);
    return heard !== undefined;
  };
  switch (what) {
    case "ingest": {
      const { event, withKey } = fields as { event: string; withKey: boolean };
      const key = withKey && event === "started" ? known?.stream_key : undefined;
      const happens = (video: LiveVideo) => (event === "started" ? takesFeed(video) : video.hasFeed) && moves(FEED_EVENTS[event] ?? "deleted")(video);
      return { method: "POST", body: { event, ...(key === undefined ? {} : { stream_key: key }) }, happens };
    }
    case "sealing":
      return {
        ...{ method: "PUT", body: { fails: fields.fails } },
        happens: (video) => {
          video.sealingFails = fields.fails === true;
          if (!video.sealingFails) moves("sealed")(video);
          return true;
        },
      };
    case "takedown":
      return { method: "POST", happens: moves("taken_down", String(fields.reason ?? "COPYRIGHT")) };
    case "restore":
      return { method: "POST", happens: moves("restored") };
    case "restore-notice":
      return {
        method: "POST",
        happens: (video) => {
          if (video.state !== "taken_down") return false;
          announce(world, [restoreNotice(video)]);
          return true;
        },
      };
  }
}

export async function changeVideo({ servers }: Stage, scene: Scene, step: LiveStep): Promise<string | undefined> {
  const { world, ever, place } = scene;
  const id = idOf(ever, step.video);
  const video = world.live_videos.get(id);
  const { method, body, happens } = orderOf(world, step, video);
  const query = step.what === "takedown" && step.fields.reason !== undefined ? `?reason=${step.fields.reason}` : "";
  const { status } = await servers.control(method, `worlds/${place}/live-videos/${id}/${step.what}${query}`, body);
  const expected = video === undefined ? 404 : happens(video) ? 200 : 409;
  if (status !== expected && !(expected === 200 && status === 201)) return `${step.what} of video ${id} is ${status}, not ${expected}`;
  if (isAnythingDue(world)) await letTimePass(servers, scene);
  return undefined;
}

/**
 * Changes the model's videos as an import does: a world file contains neither the feeds of videos nor the number of failed sealings. After an import,
 * a video on air has no timer.
 */
export function videosWithoutFeeds({ live_videos }: World): void {
  for (const video of live_videos.values()) {
    video.hasFeed = false;
    video.sealingTries = 0;
    if (video.state === "live") video.deadline = undefined;
  }
}
