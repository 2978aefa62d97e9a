/** D-16, D-34: checks the description of a node that a request with `metadata=1` gets. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import type { FieldSet, ReadRequest } from "#graph/contract/operation";
import type { Registry } from "#graph/contract/registry";
import { metadataOf } from "#graph/pipeline/respond";

const open: Policy = { name: "open", summary: "", kinds: ["page"], scopes: [], canSee: () => true };
const secret: Policy = { ...open, name: "secret", canSee: async () => false };

const set = {
  fields: {
    id: { schema: Type.String(), policy: open },
    count: { schema: Type.Integer(), policy: open },
    mixed: { schema: Type.Unknown(), policy: open },
    ours: { schema: Type.Boolean(), policy: open, onlyIn: "clients" },
    kept: { schema: Type.String(), policy: secret },
    labels: { schema: Type.Object({}), policy: open, edge: {} },
    last: { schema: Type.String(), policy: open },
  },
  defaults: ["id"],
} as unknown as FieldSet;

const operation = (method: string, edge: string | null, surfaces = ["base"]) => ({ served: { contract: { method, edge } }, access: { surfaces } });
const registry = {
  operationsOn: (type: string) =>
    type === "page"
      ? [
          ...[
            operation("GET", "labels"),
            operation("POST", "labels"),
            operation("DELETE", null),
            operation("GET", null),
            operation("GET", "feeds", ["ads"]),
          ],
          ...[{ served: undefined, access: { surfaces: ["base"] } }, operation("GET", "personas", ["ads", "base"]), operation("POST", "events")],
        ]
      : [],
} as unknown as Registry;

const metadata = (profile: string, surface = "base") =>
  metadataOf(
    registry,
    set,
    {
      ...{ node: { id: "7", type: "page", owner: "7" }, version: 26 },
      ...{ world: { profile }, graphRequest: { surface, baseUrl: "http://plaza.test" } },
    } as unknown as ReadRequest,
    { policy: open, check: [{ input: { token: { type: "page", scopes: [] } } }] as never },
  );

const field = (name: string, type: string) => ({ name, type });
const own = [field("id", "string"), field("count", "integer"), field("mixed", "mixed")];

test("its fields are those of the profile that the caller may read, in the order of their declaration, without edges", async () => {
  expect(await metadata("strict")).toMatchObject({ type: "page", fields: [...own, field("last", "string")] });
  expect((await metadata("clients")).fields).toEqual([...own, field("ours", "boolean"), field("last", "string")]);
});

test("its connections are the edges that can be read on that surface", async () => {
  const at = (edge: string) => `http://plaza.test/v26.0/7/${edge}`;
  expect((await metadata("strict")).connections).toEqual({ labels: at("labels"), personas: at("personas") });
  expect((await metadata("strict", "ads")).connections).toEqual({ feeds: at("feeds"), personas: at("personas") });
});
