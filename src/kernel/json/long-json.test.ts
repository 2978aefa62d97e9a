import { expect, test } from "bun:test";
import fc from "fast-check";
import { InexactNumber } from "./exact-json.ts";
import { LongJson, LongJsonValue, TooDeepJson } from "./long-json.ts";

const DEPTH_MAX = 64;

/** Makes the whole object from the members that the reader yields. */
async function read(text: string, pieceCharacters: number, valueCharactersMax?: number): Promise<unknown> {
  const json = new LongJson(text, valueCharactersMax, pieceCharacters);
  const members: [string, unknown][] = [];
  for await (const { name, ...span } of json.members(DEPTH_MAX))
    members.push([name, json.isList(span) ? (await Array.fromAsync(json.items(span))).flat(1) : await json.value(span)]);
  return Object.fromEntries(members);
}

const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }));
/** Writes the value as JSON in the ways of different programs: with blanks, and with escapes. */
const texts = fc.tuple(objects, fc.constantFrom("", " ", "\n\t"), fc.boolean()).map(([value, blanks, isEscaped]) => {
  const text = ` ${JSON.stringify(value, undefined, blanks)}\r\n`;
  return isEscaped ? text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`) : text;
});
const pieces = fc.integer({ min: 6, max: 60 });

test("long JSON has the value that JSON.parse reads, whatever the length of the pieces", async () => {
  await fc.assert(fc.asyncProperty(texts, pieces, async (text, piece) => expect(await read(text, piece)).toEqual(JSON.parse(text))));
  for (const text of ['{"__proto__":{"a":1},"b":[{"__proto__":[1,2,3,4,5,6,7,8]}]}', '{"a":[ ],"b":{ },"c":"\\\\\\\\\\\\\\\\\\\\\\\\"}'])
    for (let piece = 6; piece < text.length; piece++) expect(JSON.stringify(await read(text, piece))).toBe(JSON.stringify(JSON.parse(text)));
});

test("a text that JSON.parse refuses is refused, whatever the length of the pieces", async () => {
  const isRefused = async (text: string, piece: number): Promise<boolean> =>
    read(text, piece).then(
      () => false,
      (error) => error instanceof SyntaxError || error instanceof InexactNumber,
    );
  const isJson = (text: string): boolean => {
    try {
      return JSON.parse(text) !== undefined;
    } catch {
      return false;
    }
  };
  const broken = fc
    .tuple(texts, fc.nat(), fc.constantFrom("", ",", "]", "}", "[", "{", '"', "\\", ":", "\u00a0", "x", "1"))
    .map(([text, at, put]) => {
      const place = at % text.length;
      return text.slice(0, place) + put + text.slice(place + (at % 2));
    });
  await fc.assert(
    fc.asyncProperty(broken, pieces, async (text, piece) => {
      fc.pre(!isJson(text));
      expect({ text, isRefused: await isRefused(text, piece) }).toEqual({ text, isRefused: true });
    }),
    { numRuns: 1_000 },
  );
  const long = "1,".repeat(20);
  for (const text of ["[]", "1", "", `{"a":[${long}]}`, `{"a":[[${long}1],]}`, `{"a":[[${long}1] 2]}`, `{"a":{"b":[${long}1],}}`, `{"a":[${long}1}}`])
    for (const piece of [6, 10, 100]) expect({ text, isRefused: await isRefused(text, piece) }).toEqual({ text, isRefused: true });
});

test("a number that would lose digits and a bracket that is too deep are refused", async () => {
  for (const text of ['{"a":[1,9007199254740993]}', `{"a":${"7".repeat(100)}}`, `{"a":[${"7".repeat(100_000)}]}`])
    for (const piece of [6, 1_000]) await expect(read(text, piece)).rejects.toBeInstanceOf(InexactNumber);
  const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  for (const piece of [6, 1_000]) {
    expect(await read(nested(DEPTH_MAX), piece)).toEqual(JSON.parse(nested(DEPTH_MAX)));
    await expect(read(nested(DEPTH_MAX + 1), piece)).rejects.toEqual(new TooDeepJson('{"a":'.length + DEPTH_MAX - 1));
  }
  expect(await read(`{"a":"${"[".repeat(100)}"}`, 10)).toEqual({ a: "[".repeat(100) });
});

test("a value in a list or object that is too long is refused", async () => {
  const texts = { item: `{"a":[1,"${"x".repeat(98)}"]}`, member: `{"a":{"b":1,"c":"${"x".repeat(94)}"}}`, inside: `{"a":[[["${"x".repeat(94)}"]]]}` };
  for (const text of Object.values(texts)) {
    for (const piece of [6, 50]) {
      expect(await read(text, piece, 100)).toEqual(JSON.parse(text));
      await expect(read(text, piece, 99)).rejects.toBeInstanceOf(LongJsonValue);
    }
  }
  await expect(read(texts.item, 50, 99)).rejects.toMatchObject({ at: texts.item.indexOf('"x') });
});

test("the place of a value is found, or that of the closest value around it", async () => {
  const text = '{ "a": [10, {"b:c": [20, "x" ]}], "d": {"a": 30} }';
  const at = async (...steps: (string | number)[]) => {
    const place = await new LongJson(text, undefined, 6).placeOf(steps);
    return place === undefined ? undefined : text.slice(place).split(/[,\]} ]/, 1)[0];
  };
  expect([await at("a", 0), await at("a", 1, "b:c", 1), await at("d", "a")]).toEqual(["10", '"x"', "30"]);
  expect([await at("a", 1, "b:c", 2), await at("a", 0, "b"), await at("a", "b"), await at("d", 0)]).toEqual(["[20", "10", "[10", '{"a":']);
  expect([await at("e"), await at()]).toEqual([undefined, undefined]);
});

test("others get a turn after each piece", async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const text = JSON.stringify({ list: Array.from({ length: 1_000 }, (_, at) => at), object: { text: "é".repeat(10_000) } });
  await read(text, 1_000);
  isOver = true;
  // The reader looks at each character once to find the members of the object, and once more to parse the members.
  expect(turns).toBeGreaterThan((2 * text.length) / 1_000 - 5);
});
