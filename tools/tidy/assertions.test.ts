import { describe, expect, test } from "bun:test";
import { assertions } from "./assertions.ts";
import { found } from "./found.ts";

/** The lines of a test on which the check finds a problem. */
const linesOf = (text: string, path = "src/a.test.ts"): string[] => found(assertions, { [path]: text }).map((place) => place.slice(path.length + 1));

describe("assertions that cannot fail, or fail too rarely", () => {
  test.each([
    { what: "compares a thing with itself", statement: "expect(a.b).toEqual(a.b);" },
    { what: "has what is expected as its default", statement: "expect(counts.get(n) ?? 1).toBe(1);" },
    { what: "compares two things that may be missing", statement: "expect(one?.body).toBe(other[0]?.body as string);" },
    { what: "sorts both sides", statement: "expect(list.map(idOf).sort()).toEqual(await wanted.toSorted());" },
    { what: "holds for nearly every value", statement: "expect(count).toBeTruthy();" },
    { what: "holds for nearly every value, awaited", statement: "expect((await read()).story).not.toBeDefined();" },
    { what: "takes any error for the expected one", statement: "await expect(read()).rejects.toThrow();" },
    { what: "takes any other status for the expected one", statement: "expect((await read()).status).not.toBe(200);" },
    { what: "is about each thing that was returned", statement: "for (const one of (await read()).data) expect(one).toBe(1);" },
    {
      what: "is about each thing of a response",
      before: "const { data } = await read();",
      statement: "for (const one of data.slice(1)) { a(); expectWhole(one); }",
    },
  ])("an assertion that $what is found", ({ statement, before = "" }) => {
    expect(linesOf(`test("a", async () => {${before}\n${statement}\n});`)).toEqual(["2"]);
    expect(linesOf(`${before}\n${statement}`, "test/a.ts")).toEqual(["2"]);
    expect(linesOf(`${before}\n${statement}`, "src/a.ts")).toEqual([]);
  });

  test.each([
    "expect(a.b).toEqual(a.c);",
    "expect(random()).not.toEqual(random());",
    "expect(keyOf(1)).toEqual(keyOf(1));",
    "expect(a.b).not.toBe(a.b);",
    "expect(() => read()).not.toThrow();",
    'expect(() => read()).toThrow("no such thing");',
    "expect(one?.body).toBe(body);",
    'expect(one?.body ?? "").toBe("x");',
    "expect(list.toSorted()).toEqual([1, 2]);",
    "// order: a set has none.\nexpect(list.sort()).toEqual(other.sort());",
    "for (const one of [1, 2]) expect(await read(one)).toBe(1);",
    "const { data } = await read();\nexpect(data).toHaveLength(2);\nfor (const one of data) expect(one).toBe(1);",
    "for (const one of await read()) seen.push(one);",
  ])("others are not: %s", (statement) => {
    expect(linesOf(statement)).toEqual([]);
  });
});
