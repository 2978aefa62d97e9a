import { test } from "bun:test";
import { expectBounds } from "#harness/schemas/bounds";
import { inspectToken } from "./token-inspection.contract.ts";

test("F3: a token that is asked about is any text, and not none", () => {
  expectBounds(inspectToken.params, {}, { input_token: { right: ["x"], wrong: ["", undefined] } });
});
