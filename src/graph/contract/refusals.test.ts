/** Mistakes in the fields of nodes, items and objects, and in reads, stop the start of the server (D-16, D-37, D-38). */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { definePolicy, nobody, type Policy } from "#auth/policy";
import { defineError } from "#kernel/errors";
import type { Feature } from "./feature.ts";
import { type Field, type FieldSet, type ListOperation, listOperation, type NodeType, serveList, serveWrite, writeOperation } from "./operation.ts";
import { Registry } from "./registry.ts";

const other = definePolicy({ ...nobody, name: "other" });
const unlisted = definePolicy({ ...nobody, name: "unlisted" });
const lost = undefined as unknown as Policy;
const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: nobody, ...more });
const setOf = (more: Partial<FieldSet> = {}, fields: Record<string, Field> = {}): FieldSet => ({
  fields: { id: field(), ...fields },
  defaults: ["id"],
  ...more,
});
const access = {
  ...{ clauses: [], decisions: [], surfaces: ["base" as const], versions: "platform" as const, scheme: "anywhere" as const },
  ...{ policy: nobody as Policy, errorForm: "wrapped" as const, errors: [] },
};
const operation = { ...access, on: "note", summary: "Does something.", params: Type.Object({}) };

const reading = (set: FieldSet, more: object = {}): NodeType[] => [
  { type: "note", policy: nobody, reading: { ...access, operation: "readNote", set, find: async () => undefined, ...more } },
];
const listing = (items: FieldSet, more: Partial<ListOperation> = {}) => [
  serveList(listOperation({ ...operation, operation: "listLines", edge: "lines", items, ...more }), async () => ({}) as never),
];
const writing = (set: FieldSet) => [
  serveWrite(
    writeOperation({
      ...operation,
      method: "POST",
      operation: "createLine",
      edge: "lines",
      returns: Type.Object({}),
      readBack: { type: "note", set },
    }),
    async () => ({}),
  ),
];
const start = (more: Partial<Feature>) => new Registry([{ name: "notes", migrations: [], policies: [other], nodeTypes: reading(setOf()), ...more }]);
const refusal = (more: Partial<Feature>): string => {
  try {
    start(more);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

test("D-16: a read without a policy, or with an unlisted one", () => {
  expect(refusal({ nodeTypes: reading(setOf(), { policy: lost }) })).toBe("reads of note has no policy");
  expect(refusal({ nodeTypes: reading(setOf(), { policy: unlisted }) })).toBe("reads of note has the policy unlisted, which no feature lists");
  expect(refusal({ nodeTypes: [{ type: "note", policy: unlisted }] })).toBe("node type note has the policy unlisted, which no feature lists");
  expect(refusal({})).toBe("");
});

test("an error of a read, or one of the same name, that no feature lists", () => {
  const gone = defineError({ name: "noteGone", status: 404, code: 100, type: "OAuthException", when: "", mend: "" });
  const nodeTypes = reading(setOf(), { errors: ["tokenExpired", gone] });
  expect(refusal({ nodeTypes })).toBe("reads of note lists the error noteGone, which no feature defines");
  expect(refusal({ nodeTypes, errors: [{ ...gone }] })).toBe("reads of note lists the error noteGone, which no feature defines");
  expect(refusal({ nodeTypes, errors: [gone] })).toBe("");
});

test("a default field that does not exist, of a node, an item, an object or a read-back node", () => {
  for (const more of [{ defaults: ["lost"] }, { clientsDefaults: ["lost"] }, { required: ["lost"] }]) {
    const words = "returns the field lost by default, but does not declare this field";
    expect(refusal({ nodeTypes: reading(setOf(more)) })).toBe(`note ${words}`);
    expect(refusal({ operations: listing(setOf(more)) })).toBe(`listLines ${words}`);
    expect(refusal({ operations: writing(setOf(more)) })).toBe(`createLine ${words}`);
    const box = field({ nested: { set: () => setOf(more), load: async () => [] } });
    expect(refusal({ nodeTypes: reading(setOf({}, { box })) })).toBe(`box of note ${words}`);
  }
  // A property that every JavaScript object has is not a field.
  expect(refusal({ nodeTypes: reading(setOf({ defaults: ["toString"] })) })).toEndWith(
    "returns the field toString by default, but does not declare this field",
  );
});

test("D-16, D-37: a field that is always returned and has another policy than its node", () => {
  const kept = field({ policy: other });
  const words = "always returns the field kept, but this field has a policy of its own";
  expect(refusal({ nodeTypes: reading(setOf({ required: ["kept"] }, { kept })) })).toBe(`note ${words}`);
  expect(refusal({ nodeTypes: reading(setOf({}, { kept })) })).toBe("");
  expect(refusal({ nodeTypes: reading({ fields: { id: kept }, defaults: [] }) })).toBe(
    "note always returns the field id, but this field has a policy of its own",
  );
  expect(refusal({ nodeTypes: reading({ fields: { text: field() }, defaults: [] }) })).toBe("");
});

test("D-16: an item's field with its own policy, if the item's node is not named", () => {
  const items = setOf({}, { kept: field({ policy: other }) });
  expect(refusal({ operations: listing(items) })).toBe("listLines has the field kept with a policy of its own, but no nodeOf");
  expect(refusal({ operations: listing(items, { nodeOf: () => ({}) as never }) })).toBe("");
});

test("D-38: a reference to nodes without a read, or from a list without a node", () => {
  const refer = (type: string) => field({ reference: { type, idOf: () => null } });
  expect(refusal({ nodeTypes: reading(setOf({}, { page: refer("page") })) })).toBe(
    "a field refers to nodes of the type page, but this type cannot be read",
  );
  const unread: NodeType[] = [...reading(setOf({}, { pen: refer("pen") })), { type: "pen", policy: nobody }];
  expect(refusal({ nodeTypes: unread })).toBe("a field refers to nodes of the type pen, but this type cannot be read");
  expect(refusal({ nodeTypes: reading(setOf({}, { next: refer("note") })) })).toBe("");
  expect(refusal({ operations: listing(setOf({}, { next: refer("note") })) })).toBe(
    "the field next of listLines refers to a node, but only fields of nodes may do so",
  );
});

test("an edge or a field of another feature with the name of a field", () => {
  expect(refusal({ nodeTypes: reading(setOf({}, { lines: field() })), operations: listing(setOf()) })).toBe(
    "two features declare the field lines of note",
  );
  const fieldExtensions = [{ on: "note", name: "id", field: field() }];
  expect(refusal({ fieldExtensions })).toBe("two features declare the field id of note");
  const twice = { name: "line", field: field(), on: "note" };
  expect(refusal({ operations: listing(setOf({}, { line: field() }), { itemType: "note" }), fieldExtensions: [twice] })).toBe(
    "two features declare the field line of note",
  );
});

test("a port that a feature needs and none provides", () => {
  expect(() => start({ needs: ["label_writes"] }).openPorts()).toThrow("needs the port");
});
