import { definePolicy } from "#auth/policy";
import { chatappAccount, isSubscribedApp } from "#features/chatapp-accounts/api";
import { nodeId } from "#kernel/ids";
import { findParties } from "./migration-intents.store.ts";

/** An id that no account has, for look-ups that must find nothing. */
const NO_ACCOUNT = nodeId("9223372036854775807");

/** D-58: the policy of an intent: the calling app is subscribed to the source or destination account, or owns the solution. */
export const migrationIntent = definePolicy({
  ...chatappAccount,
  name: "migrationIntent",
  summary: "a user or system user token of an app that is subscribed to either account or owns the solution",
  readsNode: true,
  async canSee({ token, node, reader, ports, facts }) {
    const parties = await findParties(reader, node.owner, node.id);
    if (parties?.solution_owner === token.app) return true;
    // D-336: Plaza makes the same number of look-ups if the intent has no destination or does not exist, so that the response time does not reveal
    // whether the intent exists.
    for (const account of [parties?.waba, parties?.destination_waba])
      if (await isSubscribedApp(account == null ? NO_ACCOUNT : nodeId(account), token.app, reader, ports, facts)) return true;
    return false;
  },
});
