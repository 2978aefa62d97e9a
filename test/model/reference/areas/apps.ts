/** The app as a node, and its migrations (D-82, D-165). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape, select } from "../fields.ts";
import type { App } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { parameter } from "../requests.ts";
import { isMigrated, readSwitches } from "../versions.ts";
import { speaksForApp } from "./plain-nodes.ts";

const shape: Shape = { fields: objectShape("id", "name", "migrations").fields, defaults: ["id", "name"], always: ["id"] };

function shown({ world, request, node }: Turn): Record<string, unknown> {
  const { id, name } = world.apps.get(node) as App;
  return { id, name, migrations: Object.fromEntries(world.calendar.migrations.map(({ name: one }) => [one, isMigrated(world, id, one, request)])) };
}

function readApp(turn: Turn): Reply {
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(shown(turn), shape, selection)) : selection;
}

function updateApp(turn: Turn): Reply | Failure[] {
  const { world, request, node, fail } = turn;
  const switches = readSwitches(world, parameter(request, "migrations"));
  const selection = readSelection(turn, shape);
  const problems = [...(switches === undefined ? [fail("invalidParameter")] : []), ...(isSelection(selection) ? [] : [selection])];
  if (problems.length > 0 || !isSelection(selection)) return problems;
  Object.assign((world.apps.get(node) as App).migrations, switches);
  world.reach("migrationsSet");
  return success(selection === undefined ? { success: true } : select(shown(turn), shape, selection));
}

/** The data of an app is not data of a person (D-11). */
const common = {
  edge: "",
  on: "app",
  surfaces: ["base"],
  form: "wrapped",
  scheme: "any",
  isOfNoPerson: true,
  kinds: ["app", "user", "system_user"],
  scopes: [],
  hasTask: speaksForApp,
} as const;

export const appOperations: readonly Operation[] = [
  { ...common, name: "readApp", method: "GET", reply: readApp },
  { ...common, name: "updateApp", method: "POST", reply: updateApp },
];
