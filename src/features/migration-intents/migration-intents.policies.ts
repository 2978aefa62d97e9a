import { definePolicy } from "#auth/policy";
import { chatappAccount, isSubscribedApp } from "#features/chatapp-accounts/api";
import { nodeId } from "#kernel/ids";
import { findParties } from "./migration-intents.store.ts";

/** No account has this id. */
const NO_ACCOUNT = nodeId("9223372036854775807");

/** D-58: the policy of an intent: the calling app is subscribed to the source or destination account, or owns the solution. */
export const migrationIntent = definePolicy({
  ...chatappAccount,
  name: "migrationIntent",
  summary: "a user or system user token of an app that is subscribed on either account or owns the solution",
  readsNode: true,
  async canSee({ token, node, reader, ports, facts }) {
    const parties = await findParties(reader, node.owner, node.id);
    if (parties?.solution_owner === token.app) return true;
    // D-336: an intent without a destination, and one that does not exist, take as many look-ups as any other.
    for (const account of [parties?.waba, parties?.destination_waba])
      if (await isSubscribedApp(account == null ? NO_ACCOUNT : nodeId(account), token.app, reader, ports, facts)) return true;
    return false;
  },
});
