import { test } from "bun:test";
import { Type } from "typebox";
import { addressOf, expectBounds, textOf } from "#harness/schemas/bounds";
import { subscribeApp } from "./webhook-subscriptions.contract.ts";

test("D-60: a callback has an address that servers accept, and a verify token that is not empty", () => {
  const { callback_url, verify_token } = subscribeApp.params.properties;
  expectBounds(
    Type.Object({ callback_url, verify_token }),
    { callback_url: addressOf(30), verify_token: "x" },
    {
      callback_url: { right: [addressOf(2_048)], wrong: ["", addressOf(2_049)] },
      verify_token: { right: ["x", textOf(10_000)], wrong: [""] },
    },
  );
});
