import { expect, test } from "bun:test";
import { openControl } from "#harness/control";

test("every operation of the graph is listed once, as it has to be asked for", async () => {
  const { request, plaza } = await openControl();
  const { data } = (await request("GET", "operations")).body;
  const names = data.map(({ operation }: { operation: string }) => operation);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(names)).toEqual(new Set(plaza.registry.endpoints.map(({ access }) => access.operation)));
  expect(data.find(({ operation }: { operation: string }) => operation === "createLabel")).toMatchObject({
    ...{ node_type: "page", method: "POST", surface: "base", path: "/{version}/{id}/custom_labels" },
    ...{ token_places: ["access_token", "oauth_token", "bearer"], all_places: true, scopes: ["pages_messaging"] },
    parameters: expect.arrayContaining([expect.objectContaining({ name: "page_label_name", in: "body", schema: { type: "string" } })]),
  });
});
