import { expect, test } from "bun:test";
import { DocumentedResponses } from "./documented-exchanges.ts";
import { documentOf } from "./documents.ts";

test("an undocumented response is found", () => {
  const documented = new DocumentedResponses(documentOf({ type: "label" }));
  const live = { method: "GET", address: "https://graph.plaza.test", path: "/v26.0/5001?fields=id", status: 200 };
  expect(documented.problemOf({ ...live, body: { id: "5001" } })).toBeUndefined();
  expect(documented.problemOf({ ...live, body: { id: "5001", colour: "red" } })).toContain("must NOT have additional properties");
  expect(documented.problemOf({ ...live, body: { id: 5001 } })).toContain("must be string");
  expect(documented.problemOf({ ...live, status: 418, body: {} })).toBe("the document does not have the status 418");
  expect(documented.problemOf({ ...live, path: "/v26.0/5001/unheard_of", status: 400, body: { message: "no" } })).toBe(
    "the error has neither of the two forms",
  );
});
