import { expect, test } from "bun:test";
import { fileOf, grantedIn, grantsOf, permissionText, withoutPermissions } from "./permissions.ts";

const file = {
  pages: [{ id: "2001", roles: [{ user: "3001", tasks: ["MESSAGING", "MANAGE"] }] }, { id: "2002" }],
  tokens: [{ token: "a", scopes: ["x", "y"] }, { token: "b" }, { token: "c", scopes: ["y"] }],
};

test("a world file grants the scopes of tokens and the tasks of people, each once", () => {
  expect(grantedIn(file).map(permissionText)).toEqual(["x", "y", "MESSAGING (page task)", "MANAGE (page task)"]);
  expect(grantedIn({})).toEqual([]);
});

test("a permission is taken away wherever it is granted, and a scope is not a task of the same name", () => {
  expect(withoutPermissions(file, [{ kind: "scope", name: "y" }])).toEqual({
    ...file,
    tokens: [{ token: "a", scopes: ["x"] }, { token: "b" }, { token: "c", scopes: [] }],
  });
  const [page] = (withoutPermissions(file, [{ kind: "task", name: "MANAGE" }]) as typeof file).pages;
  expect(page?.roles).toEqual([{ user: "3001", tasks: ["MESSAGING"] }]);
  expect(withoutPermissions(file, [{ kind: "scope", name: "MANAGE" }])).toEqual(file);
});

test("worlds, imports, tokens and pages grant something, whether a file is YAML or an object; reads and other calls do not", () => {
  const kinds = (method: string, ...paths: readonly string[]) => paths.map((path) => grantsOf(method, path));
  expect(kinds("POST", "/v1/worlds", "/v1/worlds/a/import", "/v1/worlds/a/tokens", "/v1/worlds/a/nodes/pages")).toEqual([
    "file",
    "file",
    "token",
    "page",
  ]);
  expect(kinds("PATCH", "/v1/worlds/a/nodes/pages/2001")).toEqual(["page"]);
  expect(kinds("POST", "/v1/worlds/a/reset", "/v1/worlds/a/nodes/labels", "/v1/worlds/a/tokens/1/copy")).toEqual([undefined, undefined, undefined]);
  expect([...kinds("GET", "/v1/worlds/a/tokens"), ...kinds("DELETE", "/v1/worlds/a/nodes/pages/1")]).toEqual([undefined, undefined]);
  expect(fileOf("pages: [{id: 2001}]")).toEqual({ pages: [{ id: 2001 }] });
  expect(fileOf(undefined)).toEqual({});
});
