/** D-16, D-33, D-37, D-38: resolves the fields of a selection before anything is read. */
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody, type Policy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import { fieldsBeyond } from "#graph/pipeline/fields/field-policies";
import { type Projection, projectionOf } from "#graph/pipeline/fields/projection";
import { parseSelection } from "#kernel/selection";

const open: Policy = { ...nobody, name: "open" };
const other: Policy = { ...nobody, name: "other" };
const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: open, ...more });
const setOf = (fields: Record<string, Field>, more: Partial<FieldSet> = {}): FieldSet => ({ fields, defaults: ["id"], ...more });
const nested = (set: FieldSet, more: Partial<Field> = {}): Field => field({ nested: { set: () => set, load: async () => [] }, ...more });
const person = setOf({ id: field(), name: field() }, { defaults: ["id", "name"] });

const fields = {
  id: field(),
  name: field(),
  ours: field({ onlyIn: "clients" }),
  place: field({ schema: Type.Object({ at: Type.String(), id: Type.Optional(Type.String()) }) }),
  loaded: field({ load: async () => [] }),
  owner: nested(person),
  page: field({ reference: { type: "page", idOf: () => null, set: () => person } }),
  comments: field({ policy: other, edge: { items: person } as never }),
  kept: field({ policy: other }),
  box: nested(setOf({ id: field(), kept: field({ policy: other }) })),
};
const set = setOf(fields, { defaults: ["name", "id"], clientsDefaults: ["id", "ours"] });

const choose = (text: string | undefined, given = set, profile: "strict" | "clients" = "strict", known: string[] = []): Projection =>
  projectionOf(given, text === undefined ? undefined : parseSelection(text), profile, (name) => known.includes(name));
const names = ({ chosen }: Projection) => chosen.map(({ name }) => name);

describe("the fields of a response", () => {
  test("are the selected ones, in order, and then the required ones", () => {
    expect(names(choose("name"))).toEqual(["name", "id"]);
    expect(names(choose("id,name"))).toEqual(["id", "name"]);
    expect(names(choose("kept", setOf(fields, { required: ["name", "id", "gone"] })))).toEqual(["kept", "name", "id"]);
    expect(names(choose("name", setOf({ name: field() })))).toEqual(["name"]);
  });

  test("are the profile's defaults without a selection, and the response knows that", () => {
    expect({ names: names(choose(undefined)), isExplicit: choose(undefined).isExplicit }).toEqual({ names: ["name", "id"], isExplicit: false });
    expect(names(choose(undefined, set, "clients"))).toEqual(["id", "ours"]);
    expect(names(choose(undefined, setOf(fields, { defaults: ["name"] }), "clients"))).toEqual(["name", "id"]);
    expect(choose("name").isExplicit).toBe(true);
  });

  test("are resolved separately for each profile, any number of times", () => {
    const selection = parseSelection("ours");
    const resolve = (profile: "strict" | "clients") => () => names(projectionOf(set, selection, profile, () => false));
    for (let i = 0; i < 2; i++) {
      expect(resolve("clients")()).toEqual(["ours", "id"]);
      expect(resolve("strict")).toThrow("names a field that does not exist: ours");
    }
  });

  test("D-163: that the node does not have are omitted by `clients`, unless they are misspelt, and refused by `strict`", () => {
    const chosen = choose("cover{source},name,place{at,height}", set, "clients");
    expect({ names: names(chosen), leftOut: chosen.leftOut }).toEqual({ names: ["name", "place", "id"], leftOut: ["cover"] });
    expect(chosen.chosen.slice(1, 2).map(({ keys }) => keys)).toEqual(
      choose("place{at}")
        .chosen.slice(0, 1)
        .map(({ keys }) => keys),
    );
    expect(choose("name").leftOut).toEqual([]);
    for (const profile of ["strict", "clients"] as const) {
      expect(() => choose("nmae", set, profile)).toThrow("names a field that does not exist: nmae; did you mean name?");
      expect(() => choose("place{aat}", set, profile)).toThrow("names a field that does not exist: aat; did you mean at?");
    }
    expect(() => choose("cover")).toThrow("names a field that does not exist: cover");
    // In the response profile `strict`, an error suggests no field that only the profile `clients` has.
    expect(() => choose("our")).toThrow(/does not exist: our$/);
    expect(() => choose("our", set, "clients")).toThrow("did you mean ours?");
  });

  test("that only other nodes have are not available, if the set says that it is complete", () => {
    const whole = setOf(fields, { isExhaustive: true });
    const refusal = (text: string, given: FieldSet) => {
      try {
        choose(text, given, "strict", ["colour"]);
      } catch (error) {
        return (error as { errorName: string }).errorName;
      }
      return "none";
    };
    expect([refusal("colour", whole), refusal("toString", whole), refusal("colour", set)]).toEqual([
      ...["fieldUnavailable", "invalidParameter", "invalidParameter"],
    ]);
  });
});

describe("the selection inside a field", () => {
  const one = (text: string) => choose(text).chosen[0];

  test("is a projection of its own set, keys of a plain object, or the words of another read", () => {
    expect(names(one("owner{name}")?.inner as Projection)).toEqual(["name", "id"]);
    expect(names(one("owner")?.inner as Projection)).toEqual(["id", "name"]);
    expect([one("owner{name}")?.keys, one("owner{name}")?.fieldsOfPart]).toEqual([undefined, undefined]);
    expect(one("place{at}")).toMatchObject({
      inner: undefined,
      keys: new Map([
        ["at", undefined],
        ["id", undefined],
      ]),
      fieldsOfPart: undefined,
    });
    expect([one("place")?.keys, one("name")?.inner]).toEqual([undefined, undefined]);
    for (const name of ["page", "comments"]) {
      expect(one(`${name}{name}`)).toMatchObject({ inner: undefined, keys: undefined, fieldsOfPart: "name" });
      expect(one(name)).toMatchObject({ inner: undefined, keys: undefined, fieldsOfPart: undefined });
    }
  });

  test("is refused if the other read would refuse it", () => {
    for (const name of ["owner", "page", "comments", "place"])
      expect(() => choose(`${name}{colour}`)).toThrow("names a field that does not exist: colour");
    expect(() => choose("name{x}")).toThrow("selects fields of name");
  });

  test("needs more than the row, and so do loaded values", () => {
    const needsReads = (text: string) => choose(text).needsReads;
    expect([needsReads("name"), needsReads("place"), needsReads("name,id")]).toEqual([false, false, false]);
    for (const text of ["name,loaded", "loaded,name", "owner", "page", "comments", "place{at}"])
      expect({ text, needsReads: needsReads(text) }).toEqual({ text, needsReads: true });
  });
});

describe("D-16: the policy of a selection", () => {
  test("is that of all its fields at every depth, and absent if they differ; separate reads do not count", () => {
    const policyOf = (text: string) => choose(text).policy?.name;
    expect([policyOf("name"), policyOf("name,owner{name}"), policyOf("comments,name"), policyOf("name,page"), policyOf("box")]).toEqual(
      Array(5).fill("open"),
    );
    expect([policyOf("kept,name"), policyOf("name,kept"), policyOf("box{kept}"), policyOf("name,box{kept,id}")]).toEqual(Array(4).fill(undefined));
    expect(choose("kept", setOf({ kept: field({ policy: other }) }, { required: [] })).policy).toBe(other);
    expect(choose("owner,kept", setOf({ owner: nested(person), kept: field({ policy: other }) })).policy).toBeUndefined();
  });

  test("omits these fields, by their paths", () => {
    const beyond = (policy: Policy) =>
      fieldsBeyond(policy, setOf({ name: fields.name, kept: fields.kept, box: fields.box, comments: fields.comments })).map(({ path }) => path);
    expect([beyond(open), beyond(other)]).toEqual([
      ["kept", "box.kept"],
      ["name", "box", "box.kept"],
    ]);
  });
});
