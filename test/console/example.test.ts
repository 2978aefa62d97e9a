/** The examples of new nodes that the console offers, which the server must accept. */
import { expect, test } from "bun:test";
import { exampleOf, keysOf } from "#console/api/graph/example";
import { kindsIn } from "#console/api/graph/kinds";
import { openControl } from "#harness/control";
import { fullWorld } from "#harness/full-world";

test("the server creates each example as it is, and its required keys come first", async () => {
  const { request } = await openControl({ database: "sqlite", world: fullWorld });
  const kinds = kindsIn((await request("GET", "/v1/openapi.json")).body);
  const names = kinds.map(({ name }) => name);
  expect(names).toContain("labels");
  const ids: Record<string, string> = {};
  for (const name of names) {
    const [first] = (await request("GET", `nodes/${name}?limit=1`)).body.data;
    if (first?.id !== undefined) ids[name] = String(first.id);
  }
  for (const { name, create } of kinds) {
    const example = exampleOf(name, create, names, ids);
    const { status, body } = await request("POST", `nodes/${name}`, example);
    expect({ name, example, status, problem: body.error?.message }).toEqual({ name, example, status: 201, problem: undefined });
    expect(keysOf(create).slice(0, create.required?.length ?? 0)).toEqual([...(create.required ?? [])]);
  }
});
