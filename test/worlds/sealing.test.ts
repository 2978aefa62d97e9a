/** Checks that the server can still open the secrets of closed worlds and of snapshots after the sealing key was replaced. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { temporaryFolder } from "#harness/server";
import { closeUnusedWorlds, startOwnServer } from "./own-server.ts";
import { addressOf, listLabels, makeWorld, worldOf } from "./server-of-worlds.ts";

test("D-171: after the sealing key was replaced, an idle world and a restored snapshot can still open their secrets", async () => {
  const data = temporaryFolder();
  const server = await startOwnServer({ data });
  const { control, plaza } = server;
  for (const name of ["open", "idle"]) await makeWorld(server, name);
  await control("POST", "worlds/open/snapshots", { name: "s" });
  await closeUnusedWorlds(server);
  await control("GET", "worlds/open/nodes/apps/1001");
  await closeUnusedWorlds(server);
  expect([...plaza.worlds.open()].map(({ name }) => name)).toEqual(["default", "open"]);
  const rotated = await control("POST", "sealing-key/rotate", { overlap_seconds: 60 });
  expect(rotated.status).toBe(200);
  while ((await control("GET", "sealing-key")).body.waiting > 0) await Bun.sleep(5);
  // The time for which the old sealing key is kept has passed, and no secret of the first world needs this key.
  await plaza.worlds.default.keys.retire(Date.now() + 120_000);
  expect((await control("GET", "sealing-key")).body.previous).toHaveLength(1);
  await control("POST", "worlds/open/snapshots/s/restore");
  const proof = createHmac("sha256", "s3cret").update("page-token").digest("hex");
  for (const name of ["open", "idle"]) {
    const credentials = `access_token=page-token&oauth_token=page-token&appsecret_proof=${proof}`;
    const response = await fetch(`${addressOf(server, name)}/v26.0/2001/custom_labels?${credentials}`, {
      headers: { authorization: "Bearer page-token" },
    });
    expect({ name, status: response.status }).toEqual({ name, status: 200 });
    expect((await control("GET", `worlds/${name}/nodes/apps/1001`)).body.secret).toBe(worldOf(name).apps[0]?.secret as string);
  }
  for (const name of ["open", "idle"]) await control("DELETE", `worlds/${name}`);
  await plaza.worlds.default.keys.retire(Date.now() + 120_000);
  expect((await control("GET", "sealing-key")).body.previous).toEqual([]);
});

test("after the sealing key was replaced, older cursors still work, and cursors of one world do not work in another", async () => {
  const server = await startOwnServer({ data: temporaryFolder() });
  for (const name of ["a", "b"]) await makeWorld(server, name);
  const nextOf = async (name: string) => (await listLabels(addressOf(server, name), "&limit=1")).next ?? "";
  const before = await nextOf("a");
  expect((await server.control("POST", "sealing-key/rotate", { overlap_seconds: 60 })).status).toBe(200);
  const after = await nextOf("a");
  for (const link of [before, after]) {
    expect((await listLabels(link)).names).toEqual(["5002 of a"]);
    expect((await listLabels(link.replace(addressOf(server, "a"), addressOf(server, "b")))).status).toBe(400);
  }
});
