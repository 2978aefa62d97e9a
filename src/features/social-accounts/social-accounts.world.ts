import { type Static, Type } from "typebox";
import type { Reference, WorldEntry, WorldSection } from "#graph/contract/feature";
import { TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import { certain } from "#storage/outcomes";
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

function accountOf(input: WorldEntry): SocialAccountFacts {
  const { id, username = "", social_scoped_id, page, user, professional = true, app_connections = [] } = input as Entry;
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

function references(input: WorldEntry): Reference[] {
  const { page, user, app_connections } = accountOf(input);
  return [
    ...(page === undefined ? [] : [{ path: "page", types: ["page"], id: page }]),
    ...(user === undefined ? [] : [{ path: "user", types: ["user"], id: user }]),
    ...app_connections.map((id, index) => ({ path: `app_connections[${index}]`, types: ["app"], id })),
  ];
}

export const socialAccountSection: WorldSection = {
  key: "social_accounts",
  entry,
  references,
  insert: (tx, input) => insertSocialAccount(tx, accountOf(input)),
  async find(reader, id) {
    const account = await findSocialAccount(reader, id);
    return account === undefined ? undefined : { ...account };
  },
  async list(reader, page) {
    const found = await listSocialAccounts(reader, page);
    return { ...found, rows: found.rows.map((account) => ({ ...account })) };
  },
  async replace(tx, input) {
    const account = accountOf(input);
    await certain(deleteSocialAccount(tx, account.id), "find the account to replace");
    // The account's own id is free again after the deletion, so the social-scoped id must be in use.
    if (!(await insertSocialAccount(tx, account))) throw new TakenProblem("social_scoped_id", `${account.social_scoped_id} is taken`);
  },
  remove: (tx, id) => deleteSocialAccount(tx, nodeId(id)),
};
