/** Tests which files `plaza backup` copies, and when it refuses. The tests in `test/deploy` run `plaza backup` while a server writes. */
import { beforeEach, expect, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { printedBy, written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import * as storage from "#storage/open";
import { openSqlite } from "#storage/sqlite/open";
import { backup } from "./backup.ts";

beforeEach(() => variables({ PLAZA_DATA: undefined, PLAZA_CONFIG: undefined, PLAZA_RECORDINGS: undefined }));

/** Makes a folder with a world, the snapshots and recordings of the world, and keys. */
async function dataFolder(): Promise<string> {
  const data = join(temporaryFolder(), "data");
  const database = await openSqlite({ folder: data, migrations: [] });
  await database.saveState("kept");
  await database.close();
  mkdirSync(join(data, "recordings/default"), { recursive: true });
  writeFileSync(join(data, "recordings/default/0.ts"), "segment");
  for (const name of ["secret.key", "control.key"]) writeFileSync(join(data, name), "a key");
  return data;
}

test("worlds, snapshots and recordings are copied for their owner only, without keys; the message names the keys' place", async () => {
  const data = await dataFolder();
  const to = join(temporaryFolder(), "of/copies");
  const streams = written();
  expect(await backup(to, { data })).toBe(0);
  expect(readdirSync(to).sort()).toEqual(["default.sqlite", "recordings", "snapshots"]);
  expect(readFileSync(join(to, "recordings/default/0.ts"), "utf8")).toBe("segment");
  expect(readdirSync(join(to, "snapshots/default"))).toEqual(["kept.sqlite"]);
  expect([statSync(to), statSync(join(to, "default.sqlite"))].map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
  expect(streams).toEqual({
    out: `${data} is copied to ${to}\n`,
    err: `the secret key is not in the copy: keep ${join(data, "secret.key")}, or PLAZA_SECRET_KEY, in another place\n`,
  });
});

test("--json has the two folders", async () => {
  const data = await dataFolder();
  const to = temporaryFolder();
  const streams = written();
  expect(await backup(to, { data, json: true })).toBe(0);
  expect(printedBy("backup", streams.out)).toEqual({ from: data, to });
});

test("the copy survives a power failure, with the folders that were created for it", async () => {
  const data = await dataFolder();
  const folder = temporaryFolder();
  written();
  const steps = await diskSteps(folder, () => backup(join(folder, "of/copies"), { data }));
  for (const name of [".", "of", "of/copies", "of/copies/default.sqlite", "of/copies/snapshots", "of/copies/recordings/default/0.ts"])
    expect(steps).toContain(`sync ${name}`);
});

test("recordings can be left out, and are copied from their own folder", async () => {
  const data = await dataFolder();
  const recordings = join(temporaryFolder(), "elsewhere");
  mkdirSync(recordings);
  writeFileSync(join(recordings, "1.ts"), "elsewhere");
  written();
  const copyWith = async (given: object): Promise<string> => {
    const to = temporaryFolder();
    expect(await backup(to, { data, ...given })).toBe(0);
    return to;
  };
  expect(existsSync(join(await copyWith({ recordings: false }), "recordings"))).toBe(false);
  variables({ PLAZA_RECORDINGS: recordings });
  expect(readdirSync(join(await copyWith({ recordings: true }), "recordings"))).toEqual(["1.ts"]);
  // The world has no recordings of live video.
  variables({ PLAZA_RECORDINGS: join(recordings, "none") });
  expect(readdirSync(await copyWith({})).sort()).toEqual(["default.sqlite", "snapshots"]);
});

test("the data are those of the option, otherwise those of the server", async () => {
  const data = await dataFolder();
  const config = join(temporaryFolder(), "own.yaml");
  writeFileSync(config, `data: ${data}\n`);
  const streams = written();
  expect(await backup(temporaryFolder(), { config })).toBe(0);
  variables({ PLAZA_DATA: data });
  expect(await backup(temporaryFolder(), {})).toBe(0);
  expect(streams.out.match(new RegExp(`^${data} is copied to `, "gm"))).toHaveLength(2);
  expect(await backup(temporaryFolder(), { data: ":memory:" })).toBe(2);
  expect(streams.err).toEndWith("plaza: --data: there is no data in :memory:\n");
});

test("a refused backup creates and changes no folder", async () => {
  const streams = written();
  const refused = async (to: string, given: Readonly<Record<string, unknown>>) => {
    Object.assign(streams, { out: "", err: "" });
    return { code: await backup(to, given), ...streams };
  };
  const data = await dataFolder();
  const to = join(temporaryFolder(), "copy");
  const none = temporaryFolder();
  expect(await refused(to, { data: none })).toEqual({ code: 2, out: "", err: `plaza: --data: there is no data in ${none}\n` });
  expect(await refused(to, { data: "postgres://127.0.0.1/x" })).toMatchObject({ code: 2, err: expect.stringContaining("pg_dump") });
  expect(existsSync(to)).toBe(false);
  const full = temporaryFolder();
  writeFileSync(join(full, "file"), "");
  expect(await refused(full, { data })).toEqual({ code: 2, out: "", err: `plaza: <folder>: ${full} is not empty\n` });
  expect(readdirSync(full)).toEqual(["file"]);
  expect(await refused(join(full, "file"), { data })).toEqual({
    code: 1,
    out: "",
    err: expect.stringContaining("plaza: the data cannot be copied: "),
  });
});

test("a mistake of the program is not reported as one of the disk", async () => {
  const data = await dataFolder();
  const streams = written();
  const spy = spyOn(storage, "backUpWorlds").mockImplementation(() => Promise.reject(new TypeError("a mistake")));
  afterThisTest(() => spy.mockRestore());
  expect(await backup(temporaryFolder(), { data })).toBe(1);
  expect(streams.err).toBe("");
});
