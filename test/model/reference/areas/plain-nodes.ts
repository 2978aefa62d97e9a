/** Plain reads of apps, users, pages, businesses and accounts (D-165, D-59). */

import { objectShape, type Shape, select } from "../fields.ts";
import type { Token, TokenKind } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import type { NodeType, World } from "../world.ts";

type Row = Readonly<Record<string, unknown>>;

function reading(
  name: string,
  on: NodeType,
  kinds: readonly TokenKind[],
  read: (world: World, id: string) => Row | undefined,
  shape: Shape,
): Operation {
  return {
    ...{ name, method: "GET", edge: "", on, surfaces: ["base"], form: "wrapped", scheme: "any", kinds, scopes: [] },
    hasTask: () => true,
    reply: (turn: Turn): Reply => {
      const selection = readSelection(turn, shape);
      return isSelection(selection) ? success(select(read(turn.world, turn.node), shape, selection)) : selection;
    },
  };
}

/** B1: an app token of that app, or a token of one of its administrators or developers. */
export function speaksForApp(world: World, { type, user, app }: Token, id: string): boolean {
  const roles = world.apps.get(id)?.roles ?? [];
  return app === id && (type === "app" || roles.some((one) => one.user === user && (one.role === "administrator" || one.role === "developer")));
}

const named: Shape = { ...objectShape("id", "name"), always: ["id"] };
const persons = ["user", "system_user"] as const;

export const plainOperations: readonly Operation[] = [
  reading("readUser", "user", persons, ({ users }, id) => ({ ...users.get(id) }), named),
  reading(
    "readBusiness",
    "business",
    persons,
    ({ businesses }, id) => {
      const { name } = businesses.get(id) ?? {};
      return { id, name };
    },
    named,
  ),
  reading(
    "readPage",
    "page",
    ["page", ...persons],
    ({ pages }, id) => {
      const { name } = pages.get(id) ?? {};
      return { id, name };
    },
    named,
  ),
];
