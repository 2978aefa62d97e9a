import { test } from "bun:test";
import { expectBounds } from "#harness/schemas/bounds";
import { inspectToken } from "./token-inspection.contract.ts";

test("F3: an inspected token is any text that is not empty", () => {
  expectBounds(inspectToken.params, {}, { input_token: { right: ["x"], wrong: ["", undefined] } });
});
