import { expect, test } from "bun:test";
import { stopMonotonicClock } from "#harness/time/stopped-time";
import { isKnownServicePort } from "./known-ports.ts";
import { Names, systemNames } from "./resolver.ts";

test("a name is resolved once for all that ask at the same time, and each name for itself", async () => {
  const asked: string[] = [];
  const names = new Names(async (name) => {
    asked.push(name);
    return [`address of ${name}`];
  });
  expect(await Promise.all(["a", "a", "b"].map((name) => names.addressesOf(name)))).toEqual([["address of a"], ["address of a"], ["address of b"]]);
  expect(asked).toEqual(["a", "b"]);
});

test("the system knows the addresses of this machine's own name", async () => {
  const addresses = await systemNames("localhost");
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => address !== "127.0.0.1" && address !== "::1")).toEqual([]);
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

test("the Fetch standard's bad ports and those of inner services are known, and no others", () => {
  const bad = [
    [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123],
    [135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995],
    [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  ].flat();
  const inner = [
    [445, 873, 1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5671, 5672, 5900, 5984, 5985, 5986],
    [6379, 6443, 7000, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 27017, 50000],
  ].flat();
  const known = Array.from({ length: 65_536 }, (_, port) => port).filter(isKnownServicePort);
  expect(known).toEqual([...bad, ...inner].toSorted((one, other) => one - other));
});

test("services that are no HTTP are known by their port, of the browsers' list and of inner networks", () => {
  const known = [1, 22, 25, 10080, 445, 2375, 5432, 6379, 9200, 11211, 50_000];
  expect(known.filter((port) => !isKnownServicePort(port))).toEqual([]);
  expect([80, 443, 3000, 8000, 8080, 8443, 2, 24, 49_999].filter(isKnownServicePort)).toEqual([]);
});

test("what a name leads to is kept for five seconds, and a failure that comes late leaves alone what is known by then", async () => {
  const clock = stopMonotonicClock(1_000);
  const asked: PromiseWithResolvers<readonly string[]>[] = [];
  const names = new Names(() => {
    const one = Promise.withResolvers<readonly string[]>();
    asked.push(one);
    return one.promise;
  });
  const first = names.addressesOf("a");
  clock.ms += 4_999.5;
  expect(names.addressesOf("a")).toBe(first);
  clock.ms += 0.5;
  const second = names.addressesOf("a");
  expect(asked).toHaveLength(2);
  asked[0]?.reject(new Error("no such name"));
  await expect(first).rejects.toMatchObject({ kind: "dns", message: "a has no address" });
  expect(names.addressesOf("a")).toBe(second);
  asked[1]?.resolve(["192.0.2.1"]);
  expect(await second).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(2);
});
