/** D-38: makes the objects of a response from rows. */
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody } from "#auth/policy";
import type { Field, FieldSet, ReadRequest } from "#graph/contract/operation";
import { type ProjectionSource, projectRow, projectRows } from "#graph/pipeline/fields/project";
import { projectionOf } from "#graph/pipeline/fields/projection";
import { parseSelection } from "#kernel/selection";
import type { Row } from "#storage/sql";

const request = { name: "the request" } as unknown as ReadRequest;
const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: nobody, ...more });
const person: FieldSet = {
  fields: { id: field(), name: field(), upper: field({ load: async (_, __, rows) => rows.map(({ name }) => String(name).toUpperCase()) }) },
  defaults: ["id", "name"],
};
const object = (load: (rows: readonly Row[]) => (Row | readonly Row[] | undefined)[]): Field =>
  field({ nested: { set: () => person, load: async (_request, _reader, rows) => load(rows) } });

const set: FieldSet = {
  fields: {
    id: field(),
    name: field(),
    shout: field({ of: (row, asked) => (asked === request ? `${row.name}!` : undefined) }),
    place: field({ schema: Type.Object({ at: Type.String(), country: Type.String() }), of: ({ name }) => ({ at: name, country: "DE" }) }),
    where: field({
      schema: Type.Object({ at: Type.String(), country: Type.String() }),
      load: async (_request, _reader, rows) => rows.map(({ name }) => ({ at: name, country: "DE" })),
    }),
    counted: field({
      load: async (asked, reader, rows) =>
        rows.map((row, at) => (asked === request && (reader as unknown) === "the reader" && row.name !== null ? at : null)),
    }),
    owner: object((rows) => rows.map(({ name }) => (name === null ? undefined : { id: `of ${name}`, name: String(name) }))),
    children: object((rows) =>
      rows.map(({ id }) =>
        id === "1"
          ? [
              { id: "11", name: "a" },
              { id: "12", name: "b" },
            ]
          : id === "2"
            ? []
            : undefined,
      ),
    ),
    page: field({ reference: { type: "page", idOf: ({ name }) => (name === null ? null : "5"), set: () => person } }),
    comments: field({ edge: { edge: "comments", items: person } as never }),
  },
  defaults: ["id", "name"],
};
const rows: Row[] = [
  { id: "1", name: "Ada" },
  { id: "2", name: "Bo" },
  { id: "3", name: null },
];

/** The response objects that are made from the rows, and the further reads that these objects need. */
async function shown(fields: string, of: readonly Row[] = rows, response: unknown = { read: true }, given = set) {
  const parts: unknown[] = [];
  const readPart = async (part: unknown) => {
    parts.push(part);
    return response;
  };
  const source = { request, reader: "the reader", readPart } as unknown as ProjectionSource;
  return {
    rows: await projectRows(
      source,
      of,
      projectionOf(given, parseSelection(fields), "strict", () => false),
    ),
    parts,
  };
}

describe("a row", () => {
  const alone = (fields: string, row: Row | undefined) =>
    projectRow(
      request,
      row as Row,
      projectionOf(set, parseSelection(fields), "strict", () => false),
    );

  test("shows its columns and derived values, without absent ones", async () => {
    expect(alone("name,shout,id", rows[0])).toEqual({ name: "Ada", shout: "Ada!", id: "1" });
    expect([alone("name,id", rows[2]), alone("name", { id: "4" })]).toEqual([{ id: "3" }, { id: "4" }]);
    expect((await shown("name,shout,id")).rows).toEqual([
      { name: "Ada", shout: "Ada!", id: "1" },
      { name: "Bo", shout: "Bo!", id: "2" },
      { shout: "null!", id: "3" },
    ]);
    // Zero, false and the empty text are values, so they are not left out.
    for (const name of [0, "", false]) expect(alone("name", { id: "1", name } as Row)).toEqual({ name, id: "1" } as never);
  });

  test("shows the selected keys of a plain object", async () => {
    expect((await shown("place{country}")).rows[0]).toEqual({ place: { country: "DE" }, id: "1" });
    expect((await shown("where{at}")).rows[1]).toEqual({ where: { at: "Bo" }, id: "2" });
    expect((await shown("place,counted")).rows[0]).toEqual({ place: { at: "Ada", country: "DE" }, counted: 0, id: "1" });
  });

  test("shows the values that were loaded for all rows at once, each its own", async () => {
    expect((await shown("counted")).rows).toEqual([{ counted: 0, id: "1" }, { counted: 1, id: "2" }, { id: "3" }]);
  });
});

describe("objects inside", () => {
  test("are at their own row, or in a list, which may be empty; a row without has none", async () => {
    expect((await shown("owner{name}")).rows).toEqual([
      { owner: { name: "Ada", id: "of Ada" }, id: "1" },
      { owner: { name: "Bo", id: "of Bo" }, id: "2" },
      { id: "3" },
    ]);
    expect((await shown("children")).rows).toEqual([
      {
        children: {
          data: [
            { id: "11", name: "a" },
            { id: "12", name: "b" },
          ],
        },
        id: "1",
      },
      { children: { data: [] }, id: "2" },
      { id: "3" },
    ]);
    expect((await shown("children{upper}")).rows[0]).toEqual({
      children: {
        data: [
          { upper: "A", id: "11" },
          { upper: "B", id: "12" },
        ],
      },
      id: "1",
    });
  });

  test("are at most 10,000 for all rows", async () => {
    const many = (count: number): FieldSet => ({
      ...set,
      fields: { ...set.fields, many: object((all) => all.map(() => Array(count).fill({ id: "1" }))) },
    });
    expect((await shown("many", rows.slice(0, 2), undefined, many(5_000))).rows).toHaveLength(2);
    await expect(shown("many", [...rows.slice(0, 1)], undefined, many(10_001))).rejects.toThrow("more than 10000 objects of many");
  });
});

describe("reads inside", () => {
  test("of a named node run if something is selected, and show its id if they find nothing", async () => {
    expect(await shown("page")).toEqual({ rows: [{ page: { id: "5" }, id: "1" }, { page: { id: "5" }, id: "2" }, { id: "3" }], parts: [] });
    const part = { id: "5", edge: undefined, fields: "name" };
    const read = await shown("page{name}");
    expect<unknown>(read).toEqual({ rows: [{ page: { read: true }, id: "1" }, { page: { read: true }, id: "2" }, { id: "3" }], parts: [part, part] });
    expect((await shown("page{name}", rows.slice(0, 1), null)).rows).toEqual([{ page: { id: "5" }, id: "1" }]);
  });

  test("of an edge run for each row, and omit it if they find nothing", async () => {
    const found = await shown("comments", rows.slice(0, 2));
    expect<unknown>(found.parts).toEqual(["1", "2"].map((id) => ({ id, edge: "comments", fields: undefined })));
    expect(found.rows).toEqual([
      { comments: { read: true }, id: "1" },
      { comments: { read: true }, id: "2" },
    ]);
    expect((await shown("comments{name}", rows.slice(0, 1))).parts).toMatchObject([{ fields: "name" }]);
    expect((await shown("comments", rows.slice(0, 1), null)).rows).toEqual([{ id: "1" }]);
  });
});
