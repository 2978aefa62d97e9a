/** Tests that the key file is on the disk before any secret is sealed with its key, because without the file such a secret could not be read. */
import { expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settings } from "#features";
import { afterThisTest } from "#harness/cleanup";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { readConfig } from "./read-config.ts";
import { keyRingOf } from "./secret-key.ts";

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
const ringOf = (data: string) => keyRingOf(readConfig({ data }, {}, undefined, settings), random);

test("the first key survives a power failure, with the folders that were created for it", async () => {
  const folder = temporaryFolder();
  const steps = await diskSteps(folder, () => ringOf(join(folder, "one/data")));
  const written = `one/data/secret.key.${process.pid}`;
  expect(steps.slice(0, -3).sort()).toEqual(["sync .", "sync one"]);
  expect(steps.slice(-3)).toEqual([`sync ${written}`, `${written} is one/data/secret.key`, "sync one/data"]);
});

test("a new key survives a power failure before it is used", async () => {
  const folder = temporaryFolder();
  const ring = ringOf(folder);
  const before = ring.current;
  expect(await diskSteps(folder, () => ring.rotate(1))).toEqual(["sync secret.key.new", "secret.key.new is secret.key", "sync ."]);
  expect(ring.current).not.toEqual(before);
  expect(ringOf(folder).current).toEqual(ring.current);
});

const textOf = (key: Uint8Array): string => Buffer.from(key).toString("base64");

test("two first starts at once use the key of the faster one; if no key can be stored, none is used", () => {
  const folder = temporaryFolder();
  const faster = textOf(random(32));
  const link = spyOn(fs, "linkSync").mockImplementation((_, file) => {
    writeFileSync(file, `${faster}\n`);
    throw Object.assign(new Error("it is there"), { code: "EEXIST" });
  });
  afterThisTest(() => link.mockRestore());
  expect(textOf(ringOf(folder).current)).toBe(faster);
  expect(readdirSync(folder)).toEqual(["secret.key"]);
  const other = temporaryFolder();
  for (const error of [Object.assign(new Error("no links here"), { code: "EPERM" }), new Error("no links here")]) {
    link.mockImplementation(() => {
      throw error;
    });
    expect(() => ringOf(other)).toThrow("no links here");
    expect(readdirSync(other)).toEqual([]);
  }
});

test("a file is refused if a key has another length, or a previous key has no end", () => {
  const folder = temporaryFolder();
  const problemOf = (...lines: string[]): string => {
    writeFileSync(join(folder, "secret.key"), lines.map((line) => `${line}\n`).join(""));
    try {
      ringOf(folder);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const [key, previous] = [textOf(random(32)), `${textOf(random(32))} until 2030-01-01T00:00:00.000Z`];
  expect(problemOf(key, previous)).toBe("");
  for (const bytes of [31, 33]) {
    expect(problemOf(textOf(random(bytes)))).toContain("must contain a key of 32 bytes in base64");
    expect(problemOf(key, `${textOf(random(bytes))} until 2030-01-01T00:00:00.000Z`)).toContain("must contain a key of 32 bytes in base64");
  }
  expect(problemOf("")).toContain("must contain a key of 32 bytes in base64");
  for (const without of [textOf(random(32)), `${textOf(random(32))} until then`])
    expect(problemOf(key, previous, without)).toContain("must contain the end time of each previous key");
});

test("a previous key is deleted at the end of its time, and its file with it; otherwise the file stays unchanged", async () => {
  const folder = temporaryFolder();
  const ring = ringOf(folder);
  const first = ring.current;
  ring.rotate(1_000);
  ring.rotate(2_000);
  expect(ring.previous.map(({ untilMs }) => untilMs)).toEqual([2_000, 1_000]);
  expect(await diskSteps(folder, () => ring.retire(999))).toEqual([]);
  expect(ring.previous).toHaveLength(2);
  expect(await diskSteps(folder, () => ring.retire(1_000))).toEqual(["sync secret.key.new", "secret.key.new is secret.key", "sync ."]);
  expect(ring.previous.map(({ untilMs }) => untilMs)).toEqual([2_000]);
  expect(readFileSync(join(folder, "secret.key"), "utf8")).not.toContain(textOf(first));
});

test("if a key cannot be stored, the old one is used, now and after a restart", () => {
  const folder = temporaryFolder();
  const ring = ringOf(folder);
  const before = textOf(ring.current);
  const rename = spyOn(fs, "renameSync").mockImplementation(() => {
    throw new Error("the disk is full");
  });
  afterThisTest(() => rename.mockRestore());
  expect(() => ring.rotate(1_000)).toThrow("the disk is full");
  expect([textOf(ring.current), ring.previous.length, textOf(ringOf(folder).current)]).toEqual([before, 0, before]);
});

test("further keys of the configuration stay when one of the file is deleted, and are not in the file", () => {
  const [folder, further] = [temporaryFolder(), textOf(random(32))];
  const ring = keyRingOf(readConfig({ data: folder }, { PLAZA_FURTHER_SECRET_KEYS: further }, undefined, settings), random);
  ring.rotate(1_000);
  const kept = () => ring.previous.map(({ key, untilMs }) => [textOf(key) === further, untilMs]);
  expect(kept()).toEqual([
    [false, 1_000],
    [true, undefined],
  ]);
  ring.retire(1_000);
  expect(kept()).toEqual([[true, undefined]]);
  expect(readFileSync(join(folder, "secret.key"), "utf8")).toBe(`${textOf(ring.current)}\n`);
});

test("keys of the configuration are replaced only in the configuration", () => {
  const secret_key = textOf(random(32));
  const ring = keyRingOf(readConfig({ data: temporaryFolder() }, { PLAZA_SECRET_KEY: secret_key }, undefined, settings), random);
  expect(textOf(ring.current)).toBe(secret_key);
  expect(ring.isOwn).toBe(false);
  expect(() => ring.rotate(1)).toThrow("can be replaced only in the configuration");
  ring.retire(Number.MAX_SAFE_INTEGER);
  expect(textOf(ring.current)).toBe(secret_key);
});
