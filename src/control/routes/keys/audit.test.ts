import { describe, expect, test } from "bun:test";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const AUDIT = "/v1/audit";
const KEYS = "/v1/control-keys";
const DAY_MS = 86_400_000;

onEachDatabase("D-331: what control keys did", (database) => {
  test("each change has an entry with key, method, route, world and result, without ids and values", async () => {
    const { request, plaza } = await openControl({ database });
    const made = (await request("POST", KEYS, { access: "full", name: "deploy" })).body;
    plaza.time.realMs += 1_500;
    await request("PATCH", "nodes/labels/5001", { name: "new" }, made.key);
    await request("PATCH", "nodes/labels/77", { name: "new" }, made.key);
    await request("PUT", "clock", "{", made.key);
    const { data } = (await request("GET", AUDIT)).body;
    const of = { key: made.id, key_name: "deploy", time: 1_795_000_001.5, world: "default" };
    const update = { operation: "updateNode", method: "PATCH", route: "/v1/worlds/{w}/nodes/{key}/{id}" };
    const entries = data.map(({ id: _, ...entry }: { id: string }) => entry).sort((a: { time: number }, b: { time: number }) => a.time - b.time);
    expect(entries[0]).toEqual({
      ...{ key: "configured", key_name: "configured", time: 1_795_000_000, status: 201 },
      ...{ operation: "createControlKey", method: "POST", route: KEYS },
    });
    expect(entries.slice(1)).toHaveLength(3);
    for (const entry of [
      { ...of, ...update, status: 200 },
      { ...of, ...update, status: 404 },
      { ...of, operation: "setClock", method: "PUT", route: "/v1/worlds/{w}/clock", status: 400 },
    ])
      expect(entries).toContainEqual(entry);
    expect(JSON.stringify(data)).not.toContain(made.key);
  });

  test("so has what a key was refused and who read secrets; other reads have one if the server is told so", async () => {
    const reading = await openControl({ database });
    const { request } = reading;
    const { key, id } = (await request("POST", KEYS, { access: "read" })).body;
    const bound = (await request("POST", KEYS, { access: "full", world: "default" })).body;
    for (const path of ["clock", "nodes/labels", "export", "nodes/apps"]) await request("GET", path, undefined, key);
    await request("DELETE", "nodes/labels/5001", undefined, key);
    await request("GET", "/v1/worlds/other/clock", undefined, bound.key);
    await request("GET", KEYS, undefined, bound.key);
    for (const path of ["nodes/apps/1001", "export?secrets=true", "export"]) await request("GET", path);
    const shown = async (query: string) =>
      ((await request("GET", `${AUDIT}?${query}`)).body.data as { operation: string; status: number; world?: string }[]).map(
        ({ operation, status, world }) => `${operation} ${world} ${status}`,
      );
    expect(await shown(`key=${id}`)).toEqual(["deleteNode default 403"]);
    expect((await shown(`key=${bound.id}`)).sort()).toEqual(["listControlKeys undefined 403", "readClock other 404"]);
    expect((await shown("key=configured&world=default")).sort()).toEqual(["exportWorld default 200", "readNode default 200"]);
    const all = await openControl({ database }, { audit: { days: 1, reads: true } });
    await all.request("GET", "clock");
    expect((await all.request("GET", AUDIT)).body.data).toMatchObject([
      { operation: "listAudit", method: "GET" },
      { operation: "readClock", world: "default", status: 200 },
    ]);
  });

  test("entries are kept as long as it is configured, listed by pages, since a time, and as lines", async () => {
    const { request, plaza, app } = await openControl({ database }, { audit: { days: 2, reads: false } });
    const happen = async (): Promise<void> => void (await request("PATCH", "nodes/labels/5001", { name: "new" }));
    for (const ms of [0, 1_000, DAY_MS, DAY_MS]) {
      plaza.time.realMs += ms;
      await happen();
    }
    const times = async (query = ""): Promise<number[]> =>
      (await request("GET", `${AUDIT}${query}`)).body.data.map(({ time }: { time: number }) => time);
    const last = 1_795_000_001 + 172_800;
    expect(await times()).toEqual([last, last - 86_400, last - 172_800]);
    expect(await times(`?since=${last - 86_400}`)).toEqual([last, last - 86_400]);
    expect((await request("GET", `${AUDIT}?since=soon`)).body.error).toMatchObject({ parameter: "since" });
    expect((await request("GET", `${AUDIT}?key=mine`)).body.error).toMatchObject({ code: "bad_request", parameter: "key" });
    const first = (await request("GET", `${AUDIT}?limit=2`)).body;
    const { pathname, search } = new URL(first.paging.next);
    expect((await request("GET", pathname + search)).body.data).toHaveLength(1);
    const lines = await (await app.request(`${AUDIT}/export`, { headers: { authorization: `Bearer ${KEY}` } })).text();
    expect(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).time),
    ).toEqual(await times());
  });

  test("an entry is there before its request does anything, and stays without a result if the process ends; if it cannot be stored, nothing is done", async () => {
    const { request, plaza, served, app } = await openControl({ database });
    const during: unknown[] = [];
    Object.assign(served.deps.onTimeMoved, [async () => during.push(...(await request("GET", AUDIT)).body.data)]);
    await request("POST", "clock/advance", { seconds: 1 });
    expect(during).toMatchObject([{ operation: "advanceClock" }]);
    expect(during[0]).not.toHaveProperty("status");
    expect((await request("GET", AUDIT)).body.data).toMatchObject([{ operation: "advanceClock", status: 200 }]);
    const { write } = plaza.world.database;
    let writes = 0;
    Object.assign(plaza.world.database, {
      write: () => {
        writes++;
        return Promise.reject(new Error("the disk is full"));
      },
    });
    const response = await app.request("/v1/worlds/default/clock/advance", {
      ...{ method: "POST", headers: { authorization: `Bearer ${KEY}` }, body: '{"seconds":1}' },
    });
    Object.assign(plaza.world.database, { write });
    expect({ status: response.status, writes }).toEqual({ status: 500, writes: 1 });
  });
});

describe("D-331: work that reports its progress", () => {
  test("has the result with which it ended", async () => {
    const { request, app } = await openControl();
    const load = async (body: string) => {
      const headers = { authorization: `Bearer ${KEY}`, accept: "text/event-stream" };
      return (await app.request("/v1/worlds/default/import", { method: "POST", headers, body })).text();
    };
    expect(await load("{}")).toContain("event: result");
    expect(await load('{"pages":[{"id":"x"}]}')).toContain("event: error");
    const { data } = (await request("GET", AUDIT)).body;
    expect(data.map(({ status }: { status: number }) => status).sort()).toEqual([200, 422]);
  });
});
