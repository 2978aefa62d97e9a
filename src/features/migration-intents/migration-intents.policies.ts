import { definePolicy } from "#auth/policy";
import { chatappAccount, isSubscribedApp } from "#features/chatapp-accounts/api";
import { nodeId } from "#kernel/ids";
import { findIntent, findSolution } from "./migration-intents.store.ts";

/** D-58: the policy of an intent: the calling app is subscribed to the source or destination account, or owns the solution. */
export const migrationIntent = definePolicy({
  ...chatappAccount,
  name: "migrationIntent",
  summary: "a user or system user token of an app that is subscribed on either account or owns the solution",
  async canSee({ token, node, reader, ports, facts }) {
    const intent = await findIntent(reader, node.owner, node.id);
    if (intent === undefined) return false;
    const solution = intent.solution === null ? undefined : await findSolution(reader, intent.solution);
    if (solution?.owner_app === token.app) return true;
    for (const account of [intent.waba, intent.destination_waba]) {
      if (account !== null && (await isSubscribedApp(nodeId(account), token.app, reader, ports, facts))) return true;
    }
    return false;
  },
});
