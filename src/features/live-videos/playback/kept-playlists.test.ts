import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPlaza } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { readKeptPlaylist } from "./kept-playlists.ts";

test("a playlist is made once for all viewers, and again when a segment, an end or a session is recorded", async () => {
  const { world } = await openPlaza({ database: "sqlite" });
  const recordings = temporaryFolder();
  const record = (session: number, line: string): void => {
    const folder = join(recordings, world.name, "7", String(session));
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, "index"), line);
  };
  const read = (fromRealMs: number | null = null) => readKeptPlaylist(world, recordings, "7", fromRealMs);
  const segments = async (fromRealMs?: number) => (await read(fromRealMs)).playlist?.match(/^\d.*ts$/gm);
  expect(await read()).toMatchObject({ playlist: undefined, openUntilRealMs: undefined });
  record(1, "2000 900 1000\n");
  const first = await read();
  expect(first).toMatchObject({ playlist: expect.stringContaining("1/0.ts\n"), openUntilRealMs: 3000 });
  expect(await read()).toBe(first);
  record(1, "2000 900 3000\n");
  expect(await segments()).toEqual(["1/0.ts", "1/1.ts"]);
  // Published after the first one: what came before was a preview.
  expect(await segments(2000)).toEqual(["1/1.ts"]);
  record(1, "end\n");
  expect((await read()).openUntilRealMs).toBeUndefined();
  record(2, "1000 900 60000\n");
  expect(await segments()).toEqual(["1/0.ts", "1/1.ts", "2/0.ts"]);
  // The second session goes on, although the first one is over.
  expect((await read()).openUntilRealMs).toBe(61_000);
  record(2, "2000 900 61000\n");
  expect((await read()).openUntilRealMs).toBe(63_000);
  record(2, "end\n");
  expect((await read()).openUntilRealMs).toBeUndefined();
  // Another video is another one.
  expect((await readKeptPlaylist(world, recordings, "8", null)).playlist).toBeUndefined();
});
