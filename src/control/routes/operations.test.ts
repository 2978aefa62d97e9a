import { expect, test } from "bun:test";
import { openControl } from "#harness/control";

test("every operation of the graph is listed once, with the way to request it", async () => {
  const { request, plaza } = await openControl();
  const { data } = (await request("GET", "operations")).body;
  const names = data.map(({ operation }: { operation: string }) => operation);
  expect(new Set(names).size).toBe(names.length);
  // D-381: the profile strict does not have the login operations.
  const strict = plaza.registry.endpoints.filter(({ access }) => access.surfaces.length > 0);
  expect(new Set(names)).toEqual(new Set(strict.map(({ access }) => access.operation)));
  plaza.world.profile = "clients";
  expect((await request("GET", "operations")).body.data).toHaveLength(plaza.registry.endpoints.length);
  expect(data.find(({ operation }: { operation: string }) => operation === "createLabel")).toMatchObject({
    ...{ node_type: "page", method: "POST", surface: "base", path: "/{version}/{id}/custom_labels" },
    ...{ token_places: ["access_token", "oauth_token", "bearer"], all_places: true, scopes: ["pages_messaging"] },
    parameters: [{ name: "page_label_name", in: "body", required: true, schema: { type: "string", minLength: 1, maxLength: 80 } }],
  });
});

test("an operation has its address, with a version if it has one, on a node or not, in pages or not", async () => {
  const { request, plaza } = await openControl();
  const { data, paging } = (await request("GET", "operations")).body as { data: Record<string, unknown>[]; paging: object };
  expect(paging).toEqual({});
  const names = data.map(({ operation }) => String(operation));
  expect(names).toEqual(names.toSorted((one, other) => (one < other ? -1 : 1)));
  const of = (name: string) => data.find(({ operation }) => operation === name);
  expect(of("listLabels")).toMatchObject({ method: "GET", node_type: "page", is_list: true, takes_fields: true, all_places: true });
  expect([of("reportAppEvents"), of("listLabels")]).toMatchObject([{ is_discouraged: true }, { is_discouraged: false }]);
  expect(of("deleteCatalog")).toMatchObject({ method: "DELETE", path: "/{version}/{id}", is_list: false, takes_fields: false, all_places: false });
  // A node that only returns its declared fields is read by an operation without a summary of its own.
  expect(of("readPage")).toMatchObject({ method: "GET", node_type: "page", summary: "Reads a page: its declared fields.", is_list: false });
  expect(of("inspectToken")).toMatchObject({ path: "/debug_token", surface: "microblog", token_places: ["access_token"] });
  expect(of("inspectToken")).not.toHaveProperty("node_type");
  const { versions } = of("listLabels") as { versions: string[] };
  expect(versions.slice(-2)).toEqual(["v25.0", "v26.0"]);
  const needed = data.flatMap(({ parameters }) => parameters as { required: boolean }[]).map(({ required }) => required);
  expect(new Set(needed)).toEqual(new Set([true, false]));
  // The summaries in the list cite no clauses, because readers of the list do not know the clauses.
  for (const { summary } of data) expect(String(summary)).not.toMatch(/\b[A-Z]{2,}-\d/);
  expect(data).toHaveLength(plaza.registry.endpoints.filter(({ access }) => access.surfaces.length > 0).length);
});

test("the operations of one node are those of its type", async () => {
  const { request } = await openControl();
  const of = async (node: string) =>
    (await request("GET", `operations?node=${node}`)).body.data.map(({ node_type }: { node_type?: string }) => node_type);
  expect(new Set(await of("5001"))).toEqual(new Set(["label"]));
  expect(await of("5999")).toEqual([]);
  expect(await of("me")).toEqual([]);
});
