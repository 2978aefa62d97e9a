import { type Static, Type } from "typebox";
import { closedMap, described, idOf, TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { certain } from "#storage/database";
import type { SocialAccountFacts } from "./social-accounts.api.ts";
import { deleteSocialAccount, findSocialAccount, insertSocialAccount, listSocialAccounts } from "./social-accounts.store.ts";

const entry = closedMap(
  {
    id: described("the account's id", worldId),
    username: Type.String({ default: "", description: "the account's name" }),
    social_scoped_id: Type.Optional(described("the id that webhooks give as recipient, and to which messages are sent", worldId)),
    page: Type.Optional(described("the page that the account is linked to; tokens of the page act for the account", idOf("page"))),
    user: Type.Optional(described("the user who owns the account", idOf("user"))),
    professional: Type.Boolean({
      default: true,
      description: "whether the account is professional; only professional accounts can be read and messaged",
    }),
    app_connections: Type.Array(idOf("app"), { default: [], description: "the apps that the account is connected to" }),
  },
  "an account of the social network",
);

const accountOf = (given: Static<typeof entry>): SocialAccountFacts => ({ social_scoped_id: undefined, page: undefined, user: undefined, ...given });

export const socialAccountSection = section({
  key: "social_accounts",
  nodeType: "social_account",
  entry,
  insert: (tx, given) => insertSocialAccount(tx, accountOf(given)),
  find: findSocialAccount,
  list: listSocialAccounts,
  async replace(tx, given) {
    await certain(deleteSocialAccount(tx, given.id), "replace the social account");
    // The account's own id is not in use, because the stored account was deleted a moment ago. If the account cannot be inserted, the reason must be
    // that its social-scoped id is already in use.
    if (!(await insertSocialAccount(tx, accountOf(given)))) throw new TakenProblem("social_scoped_id", `${given.social_scoped_id} is already in use`);
  },
  remove: deleteSocialAccount,
});
