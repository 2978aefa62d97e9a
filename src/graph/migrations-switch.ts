/** D-82: whether a named migration is on for a call. */
import type { AppFacts } from "#auth/app-facts";
import type { GraphRequest } from "./request.ts";
import type { World } from "./world.ts";

export function isMigrated(name: string, app: AppFacts, _world: World, _request: GraphRequest): boolean {
  return app.migrations[name] === true;
}
