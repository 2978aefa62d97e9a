/** D-34, D-40, D-41, D-50: where a request may carry parameters, and which value counts if a parameter is given in two places. */
import { describe, expect, test } from "bun:test";
import { checkPlaces, parametersOf, refuseUndeclared } from "#graph/pipeline/parse";
import { type GraphRequest, JsonNumber, type Parameters } from "#graph/pipeline/request";

describe("parameters of query and body", () => {
  test("are all of both, and of one in both places the body's", () => {
    expect(parametersOf({ query: { a: "1" }, body: {} })).toEqual({ a: "1" });
    expect(parametersOf({ query: {}, body: { b: "2" } })).toEqual({ b: "2" });
    expect(parametersOf({ query: { a: "1", c: "3" }, body: { a: "2", b: "2" } })).toEqual({ a: "2", b: "2", c: "3" });
  });

  test("D-41: null in the body is ignored if the query has a value, and kept if it has none", () => {
    expect(parametersOf({ query: { a: "1" }, body: { a: null, b: null } })).toEqual({ a: "1", b: null });
  });
});

describe("D-40: parameters with their own place", () => {
  const places = { q: "query", b: "body" } as const;
  const refusal = (query: Parameters, body: Parameters, profile: "strict" | "clients"): string => {
    try {
      checkPlaces({ query, body } as GraphRequest, places, profile);
    } catch (error) {
      return (error as Error).message.replace("(#100) Param ", "");
    }
    return "";
  };

  test("are accepted there, in both profiles, and may be omitted", () => {
    for (const profile of ["strict", "clients"] as const) {
      expect([refusal({ q: "1" }, { b: "1" }, profile), refusal({}, {}, profile)]).toEqual(["", ""]);
      // Null does not count as a value, neither in the query nor in the body.
      expect([refusal({ q: "1", b: null }, { q: null, b: "1" }, profile), refusal({ b: null }, { q: null }, profile)]).toEqual(["", ""]);
      // Parameters of other types may be in the query or in the body.
      expect(refusal({ other: "1" }, { other: "2" }, profile)).toBe("");
    }
  });

  test("are refused in the other place by `strict`, and accepted there by `clients`", () => {
    expect(refusal({}, { q: "1" }, "strict")).toBe("q must be in the query");
    expect(refusal({ b: "1" }, {}, "strict")).toBe("b must be in the body");
    expect([refusal({}, { q: "1" }, "clients"), refusal({ b: "1" }, {}, "clients")]).toEqual(["", ""]);
  });

  test("may be in both places with one value, in any form of a number, and never with two", () => {
    for (const profile of ["strict", "clients"] as const) {
      expect([refusal({ q: "1" }, { q: 1 }, profile), refusal({ b: "12" }, { b: new JsonNumber("12") }, profile)]).toEqual(["", ""]);
      for (const name of ["q", "b"])
        expect(refusal({ [name]: "1" }, { [name]: "2" }, profile)).toBe(`${name} must not have one value in the query and another in the body`);
    }
  });
});

test("D-50, D-57: an undeclared parameter that not every operation has is refused, with a suggestion", () => {
  const ofAll = { access_token: "t", oauth_token: "t", appsecret_proof: "p", method: "get", metadata: "1", debug: "all", pretty: "1", locale: "de" };
  expect(() => refuseUndeclared({ name: "a", ...ofAll, migrations_override: "{}" }, ["name"])).not.toThrow();
  for (const name of ["fields", "limit", "before", "after", "ids"]) {
    expect(() => refuseUndeclared({ [name]: "1" }, ["name"])).toThrow(`${name} is not known here`);
    expect(() => refuseUndeclared({ [name]: "1" }, [name])).not.toThrow();
  }
  expect(() => refuseUndeclared({ nam: "a" }, ["name"])).toThrow("nam is not known here; did you mean name?");
  expect(() => refuseUndeclared({ zzz: "a" }, ["name"])).toThrow(/zzz is not known here$/);
});
