import { describe, expect, test } from "bun:test";
import { hashOf } from "#auth/tokens";
import { type NodeId, nodeId } from "#kernel/ids";
import { scopeWarnings, type TokenEntry, tokenHashOf, tokenOf, tokenReferences, tokenToEntry } from "./tokens.ts";

const principals = ["user", "page", "social_account", "microblog_user"] as const;
const id = (text: string): NodeId => nodeId(text);

const entry = (type: TokenEntry["type"], given: readonly (typeof principals)[number][]): TokenEntry => ({
  ...{ type, app: id("1"), scopes: [] },
  ...Object.fromEntries(given.map((name) => [name, id("7")])),
});

describe("D-11: a token in a world file or of the control API", () => {
  test.each([
    ["app", [], []],
    ["user", ["user"], []],
    ["system_user", ["user"], []],
    ["page", ["page"], ["user"]],
    ["social_user", ["social_account"], []],
    ["microblog_user", ["microblog_user"], []],
  ] as const)("of the kind %s names %p, may name %p, and nothing else", (type, needs, takes) => {
    const of = (...given: (typeof principals)[number][]) => tokenOf(entry(type, given), id("9"), 100);
    expect(of(...needs)).toMatchObject({ id: "9", type, app: "1", ...Object.fromEntries(needs.map((name) => [name, "7"])) });
    expect(of(...needs, ...takes)).toMatchObject({ type });
    for (const missing of needs) expect(() => of(...needs.filter((name) => name !== missing))).toThrow("is required");
    for (const other of principals.filter((name) => ![...needs, ...takes].includes(name as never)))
      expect(() => of(...needs, other)).toThrow("must be left out for");
  });

  test("is issued now, never ends and has no scopes by default", () => {
    expect(tokenOf(entry("app", []), id("9"), 100)).toMatchObject({
      scopes: [],
      issued_at: 100,
      expires_at: 0,
      data_access_expires_at: 0,
      revoked_at: 0,
    });
    const given = { ...entry("app", []), scopes: ["a"], issued_at: 0, expires_at: 200, data_access_expires_at: 300 };
    expect(tokenOf(given, id("9"), 100)).toMatchObject({ scopes: ["a"], issued_at: 0, expires_at: 200, data_access_expires_at: 300 });
  });

  test("is exported with its hash, without absent keys, and read back as the same", () => {
    const page = tokenOf({ ...entry("page", ["page", "user"]), scopes: ["a"] }, id("9"), 100);
    const written = tokenToEntry(page, "h");
    expect(written).toEqual({
      ...{ token_sha256: "h", type: "page", app: "1", user: "7", page: "7", scopes: ["a"] },
      ...{ issued_at: 100, expires_at: 0, data_access_expires_at: 0 },
    });
    expect(tokenOf(written as TokenEntry, id("9"), 5)).toEqual(page);
  });

  test("has a hash of its value or a given one, and refers to its app and principals", () => {
    expect(tokenHashOf({ ...entry("app", []), token: "x" })).toBe(hashOf("x"));
    expect(tokenHashOf({ ...entry("app", []), token_sha256: "h" })).toBe("h");
    expect(tokenHashOf(entry("app", []))).toBeUndefined();
    expect(tokenReferences(entry("page", ["page", "user"])).map(({ path, types }) => [path, ...types])).toEqual([
      ["app", "app"],
      ["user", "user"],
      ["page", "page"],
    ]);
  });

  test("unused scopes are named once each, twenty at most", () => {
    expect(scopeWarnings([{ scopes: ["a", "b"] }, { scopes: ["b", "c"] }, {} as never], new Set(["a"]))).toEqual([
      expect.stringContaining("scope b"),
      expect.stringContaining("scope c"),
    ]);
    const many = Array.from({ length: 21 }, (_, at) => `s${at}`);
    expect(scopeWarnings([{ scopes: many }], new Set())).toHaveLength(20);
  });
});
