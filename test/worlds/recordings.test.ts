/** Checks the recordings of a world that is replaced, because a video of the new world may get the id of an old video with a recording. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onEachDatabase } from "#harness/databases";
import { temporaryFolder } from "#harness/server";
import { newData, startOwnServer } from "./own-server.ts";
import { makeWorld } from "./server-of-worlds.ts";

onEachDatabase("recordings of a world", (kind) => {
  const start = async () => {
    const recordings = temporaryFolder();
    const server = await startOwnServer({ data: kind === "sqlite" ? temporaryFolder() : await newData(kind), recordings });
    const fileOf = (world: string): string => join(recordings, world, "5301/1/0.ts");
    for (const name of ["a", "b", "default"]) {
      if (name !== "default") await makeWorld(server, name);
      mkdirSync(join(fileOf(name), ".."), { recursive: true });
      writeFileSync(fileOf(name), "segment");
    }
    return { ...server, recorded: () => ["a", "b", "default"].filter((name) => existsSync(fileOf(name))) };
  };

  test("are deleted when it is reset; those of other worlds stay", async () => {
    const { control, recorded } = await start();
    expect((await control("POST", "worlds/a/reset")).status).toBe(200);
    expect(recorded()).toEqual(["b", "default"]);
    expect((await control("POST", "worlds/default/reset")).status).toBe(200);
    expect(recorded()).toEqual(["b"]);
  });

  test("are deleted when it is deleted; those of other worlds stay", async () => {
    const { control, recorded } = await start();
    expect((await control("DELETE", "worlds/b")).status).toBe(200);
    expect(recorded()).toEqual(["a", "default"]);
  });
});
