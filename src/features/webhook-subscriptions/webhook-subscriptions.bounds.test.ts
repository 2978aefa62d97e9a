import { test } from "bun:test";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { subscribeApp, subscribeToPage, unsubscribeApp } from "./webhook-subscriptions.contract.ts";

test("D-60: a callback has an address that servers take, a verify token of a character at least, and a subscription a field", () => {
  const fields = { right: [["a"], ["a", "b"]], wrong: [[]] };
  const rest = { object: "page", callback_url: "x", fields: ["a"], verify_token: "x" };
  expectBounds(subscribeApp.params, rest, {
    callback_url: { right: ["x", textOf(2_048)], wrong: ["", textOf(2_049)] },
    verify_token: { right: ["x", textOf(10_000)], wrong: [""] },
    fields,
  });
  expectBounds(unsubscribeApp.params, { object: "page" }, { fields: { ...fields, right: [undefined, ...fields.right] } });
  expectBounds(subscribeToPage.params, {}, { subscribed_fields: fields });
});
