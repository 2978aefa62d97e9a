/** What must arrive at the callbacks of apps. */
import type { ExpectedUpdate } from "./nodes.ts";
import type { World } from "./world.ts";

/** `route`: where it goes by what holds when it is asked; undefined: the app does not get it. It is asked again for what waits (D-63, D-138). */
export function emit(
  world: World,
  update: Pick<ExpectedUpdate, "app" | "object" | "entity" | "field" | "value">,
  route: () => string | undefined,
): void {
  const callback = route();
  if (callback !== undefined) world.updates.push({ ...update, callback, route, times: { from: world.movedFrom, until: world.now } });
}
