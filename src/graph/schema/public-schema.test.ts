import { expect, test } from "bun:test";
import { Type } from "typebox";
import { worldId, worldTime } from "../worlds/file/schema-words.ts";
import { publicSchema, requestSchema, returnedSchema, sentSchema } from "./public-schema.ts";
import type { ServedIn } from "./schema-node.ts";

const mode = Type.Union([Type.Literal("live"), Type.Literal("test")]);
const entry = Type.Object({
  id: worldId,
  since: Type.Optional({ ...worldTime, description: "when" }),
  mode: Type.Optional(mode),
  names: Type.Array(Type.String(), { default: [] }),
  match: Type.Record(Type.String(), Type.Integer(), { default: {} }),
  done: Type.Optional(Type.Literal(true)),
  inner: Type.Optional(Type.Object({ a: Type.String(), b: Type.Optional(Type.Unknown()) })),
});
const strict: ServedIn = { profile: "strict", namesOf: (what) => [`${what}_1`, `${what}_2`] };
type Properties = Readonly<Record<string, unknown>>;

test("constants become an enum, a map of values has no pattern, and no internal word is left", () => {
  const { properties } = publicSchema(entry) as { properties: Properties };
  expect(properties.mode).toEqual({ type: "string", enum: ["live", "test"] });
  expect(properties.match).toEqual({ type: "object", additionalProperties: { type: "integer" }, default: {} });
  expect(JSON.stringify(properties)).not.toContain("x-plaza");
});

test("of a request: a key with a default may be omitted, and null means that", () => {
  const safe = { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  const { properties, required } = sentSchema(entry) as { properties: Properties; required: unknown };
  expect(required).toEqual(["id"]);
  expect(properties).toMatchObject({
    id: { anyOf: [{ type: "string" }, { ...safe, minimum: 1 }] },
    since: { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }] },
    mode: { type: ["string", "null"], enum: ["live", "test", null] },
    names: { type: ["array", "null"], default: [] },
    done: { anyOf: [{ const: true }, { type: "null" }] },
    inner: { type: ["object", "null"], required: ["a"], properties: { a: { type: "string" }, b: {} } },
  });
  // Code generators do not support an object as a default.
  expect(properties.match).toEqual({ type: ["object", "null"], additionalProperties: safe });
  expect(sentSchema(Type.Object({ a: Type.Optional(Type.String()) }))).not.toHaveProperty("required");
});

test("of a graph request: a key with a default may be omitted, at every depth, and keeps its schema", () => {
  const asked = Type.Object({ name: Type.String(), schedule: Type.Object({ hour: Type.Integer({ default: 0 }), days: Type.Optional(entry) }) });
  expect(requestSchema(asked, strict)).toMatchObject({
    required: ["name", "schedule"],
    properties: { schedule: { properties: { hour: { type: "integer", default: 0 }, days: { required: ["id"] } } } },
  });
  expect(requestSchema(asked, strict)).not.toHaveProperty("properties.schedule.required");
});

test("of a response: ids and times have one form, and keys are as in the contract", () => {
  const { properties, required } = returnedSchema(entry) as { properties: Properties; required: unknown };
  expect(required).toEqual(["id", "names", "match"]);
  expect(properties.id).toEqual({ type: "string", pattern: "^[1-9][0-9]{0,18}$" });
  expect(properties.since).toEqual({ type: "integer", minimum: 0, description: "when" });
  expect(properties.inner).toMatchObject({ type: "object" });
});
