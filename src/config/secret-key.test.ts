/** The key file: without it no secret that it sealed can be read, so it is on the disk before anything is sealed with it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { settings } from "#features";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { readConfig } from "./read-config.ts";
import { keyRingOf } from "./secret-key.ts";

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
const ringOf = (data: string) => keyRingOf(readConfig({ data }, {}, undefined, settings), random);

test("the first key survives a power failure, with the folders that are made for it", async () => {
  const folder = temporaryFolder();
  const steps = await diskSteps(folder, () => ringOf(join(folder, "one/data")));
  const written = `one/data/secret.key.${process.pid}`;
  expect(steps.slice(0, -3).sort()).toEqual(["sync .", "sync one"]);
  expect(steps.slice(-3)).toEqual([`sync ${written}`, `${written} is one/data/secret.key`, "sync one/data"]);
});

test("a key that replaces another survives a power failure before it is used", async () => {
  const folder = temporaryFolder();
  const ring = ringOf(folder);
  const before = ring.current;
  expect(await diskSteps(folder, () => ring.rotate(1))).toEqual(["sync secret.key.new", "secret.key.new is secret.key", "sync ."]);
  expect(ring.current).not.toEqual(before);
  expect(ringOf(folder).current).toEqual(ring.current);
});
