/** Broadcasts whose viewers miss something. */
import { ALERTS_MAX, type Alert } from "#control-contract/alert";
import type { World } from "#graph/worlds/world";
import { type LiveState, readRunning } from "./lifecycle/control-transitions.ts";

function alertOf({ state, health, sealing }: LiveState): Pick<Alert, "level" | "text"> | undefined {
  if (state === "key_dead")
    return { level: "error", text: "its encoder did not come back, and its stream key is dead; it ends unless it gets a new key" };
  if (state === "ending" && sealing.tries > 0)
    return { level: "error", text: "its recording could not be sealed, so it goes on showing as live; it is tried again" };
  if (state === "reconnecting") return { level: "warning", text: "its encoder is gone, and may come back with the same key" };
  const [warning] = health?.warnings ?? [];
  return warning === undefined ? undefined : { level: "warning", text: warning };
}

export async function liveVideoAlerts(world: World): Promise<readonly Alert[]> {
  const running = await readRunning(world, ALERTS_MAX);
  return running.flatMap((video): Alert[] => {
    const found = alertOf(video);
    const time = video.history.at(-1)?.time;
    if (found === undefined) return [];
    const text = `Live video ${video.id} of page ${video.page}: ${found.text}.`;
    return [{ kind: "live_video", level: found.level, of: video.id, text, ...(time === undefined ? {} : { time }) }];
  });
}
