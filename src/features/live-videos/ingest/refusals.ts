/**
 * Stores the reasons why encoders with the right stream key were refused (D-295). The history of the video, the video's live state and the alerts
 * show the reason of a refusal.
 */
import { ALERTS_MAX } from "#control-contract/alert";
import type { World } from "#graph/worlds/world";
import { BoundedMap } from "#kernel/bounded-map";
import type { NodeId } from "#kernel/ids";
import { takesFeed } from "../lifecycle/states.ts";
import { holdVideo, withMove } from "../lifecycle/transitions.ts";
import { updateVideo } from "../live-videos.store.ts";

interface Refusal {
  readonly video: NodeId;
  readonly reason: string;
  readonly realMs: number;
}

/**
 * If an encoder is refused again for the same reason within 5 s, the second refusal is not stored, because a refused encoder may try again every
 * second.
 */
const REPEATED_AFTER_MS = 5_000;

/**
 * The newest refusals in this process, by video. The alerts read this map for videos that are not live yet, because no query finds refusals of these
 * videos.
 */
const worlds = new WeakMap<World, BoundedMap<NodeId, Refusal>>();

/**
 * Stores that an encoder was refused. `reason` is a text for people that says what is wrong with the stream. The refusal is not stored with the video
 * if the video was deleted or does not accept encoders any more.
 */
export async function feedRefused(world: World, video: NodeId, reason: string): Promise<void> {
  const refusals = worlds.get(world) ?? new BoundedMap<NodeId, Refusal>(ALERTS_MAX);
  worlds.set(world, refusals);
  const known = refusals.get(video);
  const realMs = world.realNowMs();
  if (known?.reason === reason && realMs - known.realMs < REPEATED_AFTER_MS) return;
  refusals.set(video, { video, reason, realMs });
  await world.database.write(async (tx) => {
    const row = await holdVideo(tx, video);
    if (row === undefined || !takesFeed(row.state)) return;
    const history = withMove(row.history, { ms: world.clock.nowMs(), event: "feed_refused", state: row.state, reason });
    await updateVideo(tx, { ...row, history });
  });
}

export const refusedVideos = (world: World): NodeId[] => [...(worlds.get(world)?.values() ?? [])].map(({ video }) => video);
