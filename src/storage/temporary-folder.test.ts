import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { makeTemporaryFolder } from "./temporary-folder.ts";

test("the folder of a killed program is removed at the next start, and no other", async () => {
  const parent = temporaryFolder();
  const dead = Bun.spawn(["true"]);
  await dead.exited;
  const leave = (name: string, owner: unknown): string => {
    const folder = join(parent, name);
    mkdirSync(join(folder, "default/1/1"), { recursive: true });
    if (owner !== undefined) writeFileSync(join(folder, "owner.json"), JSON.stringify(owner));
    return folder;
  };
  const killed = leave("plaza-recordings-killed", { host: hostname(), pid: dead.pid });
  const kept = [
    leave("plaza-recordings-running", { host: hostname(), pid: process.pid }),
    leave("plaza-recordings-elsewhere", { host: `not ${hostname()}`, pid: dead.pid }),
    leave("plaza-recordings-unknown", undefined),
    leave("plaza-recordings-odd", { host: hostname(), pid: String(dead.pid) }),
    leave("other-recordings", { host: hostname(), pid: dead.pid }),
  ];
  const { folder, remove } = makeTemporaryFolder(
    "recordings",
    (error) => {
      throw error;
    },
    parent,
  );
  while (existsSync(killed)) await Bun.sleep(5);
  expect([folder, ...kept].map((path) => existsSync(path))).toEqual(Array(6).fill(true));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"))).toEqual({ host: hostname(), pid: process.pid });
  remove();
  expect(existsSync(folder)).toBe(false);
  // Another process may have removed the folder already.
  remove();
});
