import { expect, test } from "bun:test";
import fc from "fast-check";
import { overrideOf, withOverrides } from "./script.ts";

const example = { sender: { id: "7" }, timestamp: 5, messages: [{ text: { body: "hi" } }], isNew: true };
const overridden = (...given: string[]) => withOverrides(example, given.map(overrideOf));

test("a value is replaced at its path, and everything else stays", () => {
  expect(overridden("sender.id=8")).toEqual({ ...example, sender: { id: "8" } });
  expect(overridden("messages[0].text.body=a=b")).toEqual({ ...example, messages: [{ text: { body: "a=b" } }] });
  expect(overridden("messages[1].id=2")).toEqual({ ...example, messages: [example.messages[0], { id: 2 }] });
  expect(overridden("new.list[0]=x")).toEqual({ ...example, new: { list: ["x"] } });
  expect(overridden("timestamp=6", "timestamp=7")).toEqual({ ...example, timestamp: 7 });
  expect(example.sender.id).toBe("7");
});

test("what stands in the example decides: a text stays text, and anything else is JSON where it can be read so", () => {
  expect(overridden("sender.id=15550100")).toMatchObject({ sender: { id: "15550100" } });
  expect(overridden("timestamp=6", "isNew=false", "extra=null", "more=word")).toMatchObject({
    timestamp: 6,
    isNew: false,
    extra: null,
    more: "word",
  });
  expect(withOverrides(example, [{ path: "sender.id", value: 8 }])).toMatchObject({ sender: { id: 8 } });
});

test("what is no override says so, with the path", () => {
  for (const given of ["message", "=x"]) expect(() => overrideOf(given)).toThrow(/--override: ".*" is not path=value/);
  for (const given of ["a..b=1", "[x]=1", "a]=1", "a[1=1", "a.=1", `${"a.".repeat(32)}a=1`])
    expect(() => overridden(given)).toThrow(/cannot be read as a path/);
  expect(() => overridden("timestamp=9007199254740993")).toThrow("--override: the number 9007199254740993 has more digits than can be kept");
  // No payload has a value with a deeper path than this one.
  expect(() => overridden(`${"a.".repeat(31)}a=1`)).not.toThrow();
  expect(() => overridden("timestamp.x=1")).toThrow('"timestamp.x" has the key x after a value that is not an object');
  expect(() => overridden("sender[0]=1")).toThrow("has the index 0 after a value that is not a list");
  for (const at of [2, 5]) expect(() => overridden(`messages[${at}]=1`)).toThrow(`has the index ${at}, but the length of the list is 1`);
});

test("property: a value that is set is the one that is read back", () => {
  const key = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !/[.[\]=]/.test(text));
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), (keys, value) => {
      const changed = withOverrides({}, [{ path: keys.join("."), value }]);
      expect(keys.reduce<unknown>((at, name) => Object.getOwnPropertyDescriptor(at, name)?.value, changed)).toEqual(value);
    }),
  );
});
