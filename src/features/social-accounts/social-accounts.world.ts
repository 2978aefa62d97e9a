import { type Static, Type } from "typebox";
import type { Reference, WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { SocialAccountFacts } from "./social-accounts.ports.ts";
import { deleteSocialAccount, findSocialAccount, insertSocialAccount, listSocialAccounts } from "./social-accounts.store.ts";

const entry = Type.Object(
  {
    id: worldId,
    username: Type.Optional(Type.String()),
    social_scoped_id: Type.Optional(worldId),
    page: Type.Optional(worldId),
    user: Type.Optional(worldId),
    professional: Type.Optional(Type.Boolean()),
    app_connections: Type.Optional(Type.Array(worldId)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

function accountOf(given: WorldEntry): SocialAccountFacts {
  const { id, username = "", social_scoped_id, page, user, professional = true, app_connections = [] } = given as Entry;
  const optional = (value: unknown) => (value === undefined ? undefined : nodeId(String(value)));
  return {
    id: nodeId(String(id)),
    username,
    social_scoped_id: optional(social_scoped_id),
    page: optional(page),
    user: optional(user),
    professional,
    app_connections: app_connections.map(String),
  };
}

function references(given: WorldEntry): Reference[] {
  const { page, user, app_connections } = accountOf(given);
  return [
    ...(page === undefined ? [] : [{ path: "page", types: ["page"], id: page }]),
    ...(user === undefined ? [] : [{ path: "user", types: ["user"], id: user }]),
    ...app_connections.map((id, index) => ({ path: `app_connections[${index}]`, types: ["app"], id })),
  ];
}

/** An app that was removed since is connected no more. */
async function entryOf(reader: Reader, account: SocialAccountFacts): Promise<WorldEntry> {
  const known = await Promise.all(account.app_connections.map(async (app) => (await findNode(reader, nodeId(app)))?.type === "app"));
  return { ...account, app_connections: account.app_connections.filter((_, index) => known[index]) };
}

export const socialAccountSection: WorldSection = {
  key: "social_accounts",
  entry,
  references,
  insert: (tx, given) => insertSocialAccount(tx, accountOf(given)),
  async find(reader, id) {
    const account = await findSocialAccount(reader, id);
    return account === undefined ? undefined : entryOf(reader, account);
  },
  async list(reader, page) {
    const found = await listSocialAccounts(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((account) => entryOf(reader, account))) };
  },
  async replace(tx, given) {
    const account = accountOf(given);
    await deleteSocialAccount(tx, account.id);
    // Its own id has just become free.
    if (!(await insertSocialAccount(tx, account))) throw new WorldProblem("social_scoped_id", `${account.social_scoped_id} is taken`);
  },
  remove: (tx, id) => deleteSocialAccount(tx, nodeId(id)),
};
