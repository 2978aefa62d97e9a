import { expect, test } from "bun:test";
import { isKnownServicePort } from "./known-ports.ts";
import { Names } from "./resolver.ts";

test("a name is resolved once for all that ask at the same time, and each name for itself", async () => {
  const asked: string[] = [];
  const names = new Names(async (name) => {
    asked.push(name);
    return [`address of ${name}`];
  });
  expect(await Promise.all(["a", "a", "b"].map((name) => names.addressesOf(name)))).toEqual([["address of a"], ["address of a"], ["address of b"]]);
  expect(asked).toEqual(["a", "b"]);
});

test("a name without an address, or that cannot be resolved, is resolved anew by the next request", async () => {
  const results: (readonly string[] | Error)[] = [new Error("no network"), [], ["192.0.2.1"]];
  const names = new Names(async () => {
    const result = results.shift() ?? [];
    if (result instanceof Error) throw result;
    return result;
  });
  for (let i = 0; i < 2; i++) await expect(names.addressesOf("a")).rejects.toMatchObject({ kind: "dns", message: "a has no address" });
  expect(await names.addressesOf("a")).toEqual(["192.0.2.1"]);
  expect(await names.addressesOf("a")).toEqual(["192.0.2.1"]);
});

test("services that are no HTTP are known by their port, of the browsers' list and of inner networks", () => {
  const known = [1, 22, 25, 10080, 445, 2375, 5432, 6379, 9200, 11211, 50_000];
  expect(known.filter((port) => !isKnownServicePort(port))).toEqual([]);
  expect([80, 443, 3000, 8000, 8080, 8443, 2, 24, 49_999].filter(isKnownServicePort)).toEqual([]);
});
