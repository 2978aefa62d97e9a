import { test } from "bun:test";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { setAccountOverride, setNumberOverride } from "./webhook-overrides.contract.ts";

test("H1-4, H4-4, H1-6, H4-6: an override has at most 200 characters, and its verify token any number", () => {
  expectBounds(
    setAccountOverride.params,
    {},
    {
      override_callback_uri: { right: [undefined, "x", textOf(200)], wrong: [textOf(201)] },
      verify_token: { right: [undefined, "x", textOf(10_000)], wrong: [""] },
    },
  );
  const to = (override_callback_uri: string, verify_token?: string) => ({
    override_callback_uri,
    ...(verify_token === undefined ? {} : { verify_token }),
  });
  expectBounds(
    setNumberOverride.params,
    {},
    {
      webhook_configuration: { right: [to(""), to(textOf(200), "x"), to("x", textOf(10_000))], wrong: [to(textOf(201)), {}] },
    },
  );
});
