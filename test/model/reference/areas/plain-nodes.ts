/** Plain reads of user, page, business and account nodes (D-165). */

import { objectShape, type Shape, select } from "../fields.ts";
import type { MicroblogUser, SocialAccount, Token, TokenKind } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import type { Surface } from "../requests.ts";
import type { NodeType, World } from "../world.ts";

type Row = Readonly<Record<string, unknown>>;

function reading(
  name: string,
  on: NodeType,
  kinds: readonly TokenKind[],
  read: (world: World, id: string) => Row | undefined,
  shape: Shape,
  surfaces: readonly Surface[] = ["base"],
): Operation {
  return {
    ...{ name, method: "GET", edge: "", on, surfaces, form: "wrapped", scheme: "any", kinds, scopes: [] },
    hasTask: () => true,
    reply: (turn: Turn): Reply => {
      const selection = readSelection(turn, shape);
      return isSelection(selection) ? success(select(read(turn.world, turn.node), shape, selection)) : selection;
    },
  };
}

/** B1: whether the token acts for the app: an app token of the app, or a token of one of its administrators or developers. */
export function speaksForApp(world: World, { type, user, app }: Token, id: string): boolean {
  const roles = world.apps.get(id)?.roles ?? [];
  return app === id && (type === "app" || roles.some((one) => one.user === user && (one.role === "administrator" || one.role === "developer")));
}

const named: Shape = { ...objectShape("id", "name"), always: ["id"] };
/** The fields of an account. The name of an account is its username. */
const account: Shape = { ...objectShape("id", "name", "username"), defaults: ["id", "username"], always: ["id"] };
const shownAccount = ({ id, username }: { id: string; username: string }): Row => ({ id, username, name: username });
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
  reading(
    "readSocialAccount",
    "social_account",
    ["social_user", "page", ...persons],
    ({ social_accounts }, id) => shownAccount(social_accounts.get(id) as SocialAccount),
    account,
    ["base", "social_login"],
  ),
  reading(
    "readMicroblogUser",
    "microblog_user",
    ["microblog_user"],
    ({ microblog_users }, id) => shownAccount(microblog_users.get(id) as MicroblogUser),
    account,
    ["microblog"],
  ),
];
