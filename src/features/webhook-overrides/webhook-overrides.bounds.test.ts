import { test } from "bun:test";
import { addressOf, expectBounds, textOf } from "#harness/schemas/bounds";
import { setAccountOverride, setNumberOverride } from "./webhook-overrides.contract.ts";

const address = addressOf(30);

test("H1-4, H4-4, H1-6, H4-6: an override has at most 200 characters, and its verify token has no limit", () => {
  const uri = { right: [address, addressOf(200)], wrong: ["", addressOf(201)] };
  const token = { right: ["x", textOf(10_000)], wrong: [""] };
  expectBounds(setAccountOverride.params, { override_callback_uri: address, verify_token: "x" }, { override_callback_uri: uri, verify_token: token });
  const to = (override_callback_uri: string, verify_token?: string) => ({ override_callback_uri, verify_token });
  const right = [to(""), to("", "x"), to(addressOf(200), "x"), to(address, textOf(10_000))];
  expectBounds(setNumberOverride.params, {}, { webhook_configuration: { right, wrong: [to(addressOf(201), "x"), to(address), {}] } });
});
