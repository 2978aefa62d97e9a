import { expect, test } from "bun:test";
import fc from "fast-check";
import { type TSchema, Type } from "typebox";
import type { Selection } from "#kernel/selection";
import { type Keys, keysOf, valueWithin } from "./projection.ts";

const name = fc.string({ unit: "binary", minLength: 1, maxLength: 3 });
interface Drawn {
  readonly schema: TSchema;
  /** The whole value, and the piece of it that is selected. */
  readonly value: unknown;
  readonly selection: Selection | undefined;
  readonly within: unknown;
}

const leaf = fc.string({ unit: "binary" }).map((value): Drawn => ({ schema: Type.String(), value, selection: undefined, within: value }));
/** Random objects: each key exists or not, and is selected or not; and lists of one such object. */
const { drawn } = fc.letrec<{ drawn: Drawn; object: Drawn }>((tie) => ({
  object: fc
    .uniqueArray(fc.tuple(name, tie("drawn"), fc.boolean(), fc.boolean(), fc.boolean()), { selector: ([key]) => key, minLength: 1, maxLength: 4 })
    .map((members): Drawn => {
      const selected = members.filter(([, , isSelected]) => isSelected);
      const isThere = ([, , , is]: (typeof members)[number]) => is;
      const value = Object.fromEntries(members.filter(isThere).map(([key, inner]) => [key, inner.value]));
      const shown = (key: string, inner: Drawn, isWhole: boolean): [string, unknown] => [key, isWhole ? inner.value : inner.within];
      return {
        schema: Type.Object(Object.fromEntries(members.map(([key, inner]) => [key, inner.schema]))),
        value,
        selection: new Map(selected.map(([key, inner, , , isWhole]) => [key, isWhole ? undefined : inner.selection])),
        within: Object.fromEntries(selected.filter(isThere).map(([key, inner, , , isWhole]) => shown(key, inner, isWhole))),
      };
    }),
  drawn: fc.oneof(
    { depthSize: "small" },
    leaf,
    tie("object") as fc.Arbitrary<Drawn>,
    (tie("object") as fc.Arbitrary<Drawn>).map(({ schema, value, selection, within }) => ({
      ...{ schema: Type.Array(schema), value: [value, value] },
      ...{ selection, within: [within, within] },
    })),
  ),
}));

test("D-38: exactly the selected keys of an object are kept, at every depth, also in lists", () => {
  fc.assert(
    fc.property(drawn, ({ schema, value, selection, within }) => {
      fc.pre(selection !== undefined);
      // An `id` is always in the result, and the test's model does not know this rule.
      fc.pre(!JSON.stringify(schema).includes('"id"'));
      expect(valueWithin(value, keysOf("field", schema, selection as Selection, "strict") as Keys)).toEqual(within);
    }),
  );
});

test("D-38: an unknown name is refused, and so is a selection inside a value that is not an object", () => {
  const schema = Type.Object({
    at: Type.Object({ latitude: Type.Number() }),
    names: Type.Array(Type.String()),
    any: Type.Record(Type.String(), Type.Boolean()),
  });
  const select = (...path: string[]) => path.reduceRight<Selection | undefined>((inner, key) => new Map([[key, inner]]), undefined) as Selection;
  expect(() => keysOf("place", schema, select("at", "height"), "strict")).toThrow("names a field that does not exist: height");
  expect(() => keysOf("place", schema, select("toString"), "strict")).toThrow("names a field that does not exist: toString");
  for (const key of ["names", "any"])
    expect(() => keysOf("place", schema, select(key, "x"), "strict")).toThrow(`selects fields of ${key}, which has no fields`);
});
