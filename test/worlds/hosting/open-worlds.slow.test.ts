/** D-332: checks that a client who names hundreds of worlds does not use up resources that all clients share. */
import { expect, test } from "bun:test";
import { startServer, temporaryFolder } from "#harness/server";
import { createLabel, listLabels, worldOf } from "../server-of-worlds.ts";

const WORLDS = 600;
const FILES = 2_048;

test("600 requests to as many worlds and 600 to unknown ones at once, with 2,048 open files: health is answered, and nothing is lost", async () => {
  const server = await startServer(["--data", temporaryFolder()], {}, FILES);
  const control = async (method: string, path: string, body?: unknown) =>
    fetch(`${server.control_url}/v1/${path}`, {
      ...{ method, headers: { authorization: `Bearer ${server.control_key}` } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  expect((await control("POST", "worlds", { name: "honest", file: worldOf("honest") })).status).toBe(201);
  expect(await createLabel(`${server.base_url}/w/honest`, "new")).toBe(200);
  for (let n = 0; n < WORLDS; n++) expect((await control("POST", "worlds", { name: `world${n}` })).status).toBe(201);

  const statuses = new Set<number>();
  const ask = async (path: string): Promise<void> => {
    const response = await fetch(`${server.base_url}${path}`, { headers: { authorization: "Bearer nobody" } });
    await response.arrayBuffer();
    statuses.add(response.status);
  };
  const flood = Array.from({ length: WORLDS }, (_, n) => [ask(`/w/world${n}/v26.0/2001`), ask(`/w/unknown${n}/v26.0/2001`)]).flat();
  let isOver = false;
  const flooded = Promise.all(flood).finally(() => {
    isOver = true;
  });
  let answers = 0;
  do {
    for (const path of ["healthz", "readyz"])
      expect({ path, status: (await fetch(`${server.control_url}/${path}`)).status }).toEqual({ path, status: 200 });
    answers++;
  } while (!isOver);
  await flooded;
  expect(answers).toBeGreaterThan(0);
  // The status 400 is for an unknown address, 401 for a wrong token, and 503 for worlds that had to wait too long.
  expect([...statuses].filter((status) => ![400, 401, 503].includes(status))).toEqual([]);
  const open = ((await (await control("GET", "worlds?limit=1000")).json()) as { data: { open: boolean }[] }).data.filter((world) => world.open);
  expect(open.length).toBeLessThan(FILES / 16);
  expect((await listLabels(`${server.base_url}/w/honest`)).names).toContain("new");
  expect(await server.stop()).toBe(0);
});
