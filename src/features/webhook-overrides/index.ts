/** The public API of the webhook-overrides feature, which sets callback addresses for accounts and phone numbers (H1 to H6). */

import { defineFeature } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { setAccountOverride, setNumberOverride, webhookConfiguration } from "./webhook-overrides.contract.ts";
import { handleSetAccountOverride, handleSetNumberOverride, prepareAccountOverride, prepareNumberOverride } from "./webhook-overrides.handlers.ts";
import {
  deleteOverride,
  deleteOverridesOfApp,
  deleteOverridesOfOwner,
  findOverride,
  findOverridesOfApps,
  findOverridesOfNumbers,
  listOverridesOfNumber,
  saveOverride,
  webhookOverrideMigrations,
} from "./webhook-overrides.store.ts";

export const webhookOverrides = defineFeature({
  name: "webhook-overrides",
  migrations: webhookOverrideMigrations,
  operations: [
    serveWrite(setAccountOverride, handleSetAccountOverride, prepareAccountOverride),
    serveWrite(setNumberOverride, handleSetNumberOverride, prepareNumberOverride),
  ],
  fieldExtensions: [{ on: "phone_number", name: "webhook_configuration", field: webhookConfiguration }],
  onOwnerDeleted: deleteOverridesOfOwner,
  needs: ["chatapp_account", "chatapp_account_writes", "webhook_subscription"],
  ports: () => ({
    webhook_override: {
      overridesOf: async (reader, app, account, phone) => ({
        account: await findOverride(reader, account, app, undefined),
        phone: phone === undefined ? undefined : await findOverride(reader, account, app, phone),
      }),
    },
    account_override: { find: findOverride, ofApps: findOverridesOfApps, ofNumbers: findOverridesOfNumbers, listOfNumber: listOverridesOfNumber },
    account_override_writes: { save: saveOverride, remove: deleteOverride, removeAll: deleteOverridesOfApp },
  }),
});
