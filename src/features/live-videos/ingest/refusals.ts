/** Encoders with the right key whose stream was refused (D-295): the video's history says why, and so do its state and the alerts. */
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

/** If an encoder tries again every second, the same refusal is stored only this often. */
const REPEATED_AFTER_MS = 5_000;

/** The newest refusals that this process knows. Alerts need them for videos that are not live yet, because no query finds those. */
const worlds = new WeakMap<World, BoundedMap<NodeId, Refusal>>();

/** `reason` is for people. Does nothing if the video was deleted or does not accept encoders any more. */
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
