/** Tests which files a server writes to its data folder, and who may read the files. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { ConfigProblem } from "./config.ts";
import { announceServer, controlKeyOf, findServer, isFolder, keepReplacedKey } from "./server-files.ts";

const randomSecret = (bytes: number): string => `random-of-${bytes}`;
const sandbox = (data: string, control_key?: string) => ({ data, control_key, sandbox: true });
const kept = (data: string): string => readFileSync(join(data, "control.key"), "utf8");

test("a sandbox stores its control key in its folder, readable only by its owner; a given key replaces it", () => {
  const data = temporaryFolder();
  expect(controlKeyOf(sandbox(data), randomSecret)).toBe("random-of-24");
  expect([kept(data), statSync(join(data, "control.key")).mode & 0o777]).toEqual(["random-of-24\n", 0o600]);
  expect(controlKeyOf(sandbox(data), () => "another")).toBe("random-of-24");
  expect(controlKeyOf(sandbox(data, "given"), randomSecret)).toBe("given");
  expect(kept(data)).toBe("given\n");
  expect(controlKeyOf(sandbox(data), randomSecret)).toBe("given");
  // No incomplete file is left in the data folder.
  expect(readdirSync(data)).toEqual(["control.key"]);
  expect(findServer(data)).toEqual({ info: undefined, controlKey: "given" });
});

test("an unchanged key is not written again", () => {
  const data = temporaryFolder();
  controlKeyOf(sandbox(data, "given"), randomSecret);
  const { ino } = statSync(join(data, "control.key"));
  controlKeyOf(sandbox(data, "given"), randomSecret);
  expect(statSync(join(data, "control.key")).ino).toBe(ino);
});

test("without the sandbox, in memory and on PostgreSQL the key is not stored", () => {
  const data = temporaryFolder();
  expect(controlKeyOf({ data, control_key: "given", sandbox: false }, randomSecret)).toBe("given");
  expect(controlKeyOf({ data, control_key: undefined, sandbox: false }, randomSecret)).toBe("random-of-24");
  expect(readdirSync(data)).toEqual([]);
  for (const none of [":memory:", "postgres://h/d", "postgresql://h/d"]) {
    expect(isFolder(none)).toBe(false);
    expect(controlKeyOf(sandbox(none), randomSecret)).toBe("random-of-24");
    expect(controlKeyOf(sandbox(none, "given"), randomSecret)).toBe("given");
    expect(findServer(none)).toEqual({ info: undefined, controlKey: undefined });
    announceServer({ data: none }, { pid: 1, base_url: "", control_url: "" })();
  }
  expect(isFolder(data)).toBe(true);
});

test("a replaced key is replaced in the folder, if the folder has it", () => {
  const data = temporaryFolder();
  const isOld = (key: string): boolean => key === "old-key";
  // The data folder of this test has no stored key.
  keepReplacedKey(sandbox(data), () => true, "new-key");
  expect(readdirSync(data)).toEqual([]);
  controlKeyOf(sandbox(data, "another"), randomSecret);
  keepReplacedKey(sandbox(data), isOld, "new-key");
  expect(kept(data)).toBe("another\n");
  controlKeyOf(sandbox(data, "old-key"), randomSecret);
  keepReplacedKey({ data, sandbox: false }, isOld, "new-key");
  expect(kept(data)).toBe("old-key\n");
  keepReplacedKey(sandbox(data), isOld, "new-key");
  expect([kept(data), statSync(join(data, "control.key")).mode & 0o777]).toEqual(["new-key\n", 0o600]);
  keepReplacedKey(sandbox(":memory:"), isOld, "new-key");
});

test("a file without a key is named in the error, and its content is not", () => {
  const data = temporaryFolder();
  writeFileSync(join(data, "control.key"), "half a key");
  for (const read of [() => findServer(data), () => controlKeyOf(sandbox(data), randomSecret)]) {
    expect(read).toThrow(ConfigProblem);
    expect(read).toThrow(`${join(data, "control.key")} contains no control key`);
    expect(read).not.toThrow("half a key");
  }
});

test("a running server is found, but not after it ended, was killed, or left a partial file", () => {
  const data = temporaryFolder();
  const info = { pid: process.pid, base_url: "http://a", control_url: "http://b" };
  const takeBack = announceServer({ data }, info);
  expect(findServer(data)).toEqual({ info, controlKey: undefined });
  expect([readdirSync(data), statSync(join(data, "server.json")).mode & 0o777]).toEqual([["server.json"], 0o600]);
  takeBack();
  takeBack();
  expect(readdirSync(data)).toEqual([]);
  const ended = Bun.spawnSync(["true"]).pid;
  announceServer({ data }, { ...info, pid: ended });
  expect(findServer(data).info).toBeUndefined();
  writeFileSync(join(data, "server.json"), '{"pid":');
  expect(findServer(data).info).toBeUndefined();
});
