/**
 * Checks the connection options in a database's address. None of the parameters in the address may be lost, for example the parameter for the check
 * of the TLS certificate.
 */
import { expect, test } from "bun:test";
import { configsOf } from "./server.ts";
import { rowTypes } from "./values.ts";

const addresses = (url: string) => configsOf(url).map(({ connectionString = "" }) => connectionString);

test("an address keeps its user, password, database and parameters", () => {
  for (const url of ["postgres://h/d", "postgres://u:p@h:5433/d?options=-c+x&sslrootcert=%2Fca.pem", "postgresql://u@h"])
    expect(addresses(url)).toEqual([url]);
});

test("each of several hosts has its own address, in order", () => {
  expect(addresses("postgres://u:p@a:1,b:2,c/d?x=1")).toEqual(["postgres://u:p@a:1/d?x=1", "postgres://u:p@b:2/d?x=1", "postgres://u:p@c/d?x=1"]);
});

test("sslmode has libpq's values: allow and prefer try each host twice", () => {
  const modesOf = (query: string): (string[] | undefined)[] =>
    addresses(`postgres://a,b/d?${query}`).map((one) => /^postgres:\/\/(.).*sslmode=([a-z-]+)&uselibpqcompat=true$/.exec(one ?? "")?.slice(1));
  const cases: readonly (readonly [query: string, ...modes: string[]])[] = [
    ["sslmode=disable", "disable"],
    ["sslmode=allow", "disable", "require"],
    ["sslmode=prefer", "require", "disable"],
    ["sslmode=require", "require"],
    ["sslmode=verify-full", "verify-full"],
    ["sslmode=verify-ca&sslrootcert=/ca.pem", "verify-ca"],
  ];
  for (const [query, ...modes] of cases) expect(modesOf(query)).toEqual(["a", "b"].flatMap((host) => modes.map((mode) => [host, mode])));
  expect(addresses("postgres://a/d?sslmode=verify-full&sslrootcert=system")[0]).not.toContain("system");
  for (const mode of ["no-verify", "", "Require"])
    expect(() => configsOf(`postgres://a/d?sslmode=${mode}`)).toThrow(`sslmode=${mode} is not one of disable, `);
  expect(() => configsOf("postgres://a/d?sslmode=verify-ca")).toThrow("sslmode=verify-ca requires sslrootcert=FILE");
});

test("only a server that accepts writes is used; the address may say so, and the driver does not learn of it", () => {
  for (const wanted of ["read-write", "primary"]) {
    expect(addresses(`postgres://a,b/d?target_session_attrs=${wanted}`)).toEqual(["postgres://a/d", "postgres://b/d"]);
    expect(addresses(`postgres://a/d?x=1&target_session_attrs=${wanted}`)).toEqual(["postgres://a/d?x=1"]);
  }
  for (const wanted of ["standby", "read-only", "prefer-standby"])
    expect(() => configsOf(`postgres://a/d?target_session_attrs=${wanted}`)).toThrow(`target_session_attrs=${wanted} is not one of`);
});

test("each connection names the program, gives up in time, and reads values like SQLite", () => {
  const [config] = configsOf("postgres://h/d");
  expect([config?.application_name, config?.keepAlive, config?.types === rowTypes]).toEqual(["plaza", true, true]);
  // A new connection may take as much time as a request may wait for a connection.
  expect(config?.connectionTimeoutMillis).toBe(5_000);
});
