import { type Static, Type } from "typebox";
import { closedMap, idOf, TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { certain } from "#storage/database";
import type { SocialAccountFacts } from "./social-accounts.api.ts";
import { deleteSocialAccount, findSocialAccount, insertSocialAccount, listSocialAccounts } from "./social-accounts.store.ts";

const entry = closedMap({
  id: worldId,
  username: Type.String({ default: "" }),
  social_scoped_id: Type.Optional(worldId),
  page: Type.Optional(idOf("page")),
  user: Type.Optional(idOf("user")),
  professional: Type.Boolean({ default: true }),
  app_connections: Type.Array(idOf("app"), { default: [] }),
});

const accountOf = (given: Static<typeof entry>): SocialAccountFacts => ({ social_scoped_id: undefined, page: undefined, user: undefined, ...given });

export const socialAccountSection = section({
  key: "social_accounts",
  entry,
  insert: (tx, given) => insertSocialAccount(tx, accountOf(given)),
  find: findSocialAccount,
  list: listSocialAccounts,
  async replace(tx, given) {
    await certain(deleteSocialAccount(tx, given.id), "find the account to replace");
    // The account's own id is free, because the stored account was deleted a moment ago. So the social-scoped id must be in use.
    if (!(await insertSocialAccount(tx, accountOf(given)))) throw new TakenProblem("social_scoped_id", `${given.social_scoped_id} is taken`);
  },
  remove: deleteSocialAccount,
});
