/** A world that is exported, and goes on where its export was imported. */
import type { MoveStep } from "../histories/steps.ts";
import { planAgain } from "../reference/schedules.ts";
import { videosWithoutFeeds } from "./change-video.ts";
import { newName, type Scene, type Stage } from "./scene.ts";

/** Exports the world, with its secrets (D-263), and goes on in a fresh one that is made of the export, in the same server or in another. */
export async function move(stage: Stage, scene: Scene, { into }: MoveStep): Promise<string | undefined> {
  const { world, place } = scene;
  const exported = await stage.servers.control("GET", `worlds/${place}/export?secrets=true`);
  const name = newName();
  const servers = into === "server" ? await stage.startOther() : stage.servers;
  const made = await servers.control("POST", "worlds", { name, file: exported.body });
  if (made.status !== 201) return `the export is refused: ${JSON.stringify(made.body)}`;
  if (into === "server") {
    if (scene.elsewhere !== undefined) await scene.elsewhere.stop();
    else if (place !== world.name) await stage.servers.control("DELETE", `worlds/${place}`);
    scene.elsewhere = servers;
    world.reach("importedElsewhere");
  } else if (place !== world.name) await servers.control("DELETE", `worlds/${place}`);
  // The first one stays as it is until another history resets it.
  scene.place = name;
  servers.noteFact(name);
  // D-261: a cursor of one world means nothing in another. The statuses of a world file are written when it is loaded.
  world.cursors.clear();
  for (const action of world.required_actions.values()) action.written = world.now;
  videosWithoutFeeds(world);
  // Neither are what was only counted: a world file has no app events.
  world.app_events.clear();
  world.touches.length = 0;
  world.uploads.clear();
  for (const { uploads } of world.product_feeds.values()) uploads.length = 0;
  planAgain(world);
  // D-132: a world file does not contain the overlap.
  for (const app of world.apps.values()) app.retired_secret = undefined;
  return undefined;
}
