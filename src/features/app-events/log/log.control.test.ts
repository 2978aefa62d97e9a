/** D-423: checks that a program that copies the log of app events can read the log forwards, and learns of every event that it misses. */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { nodeId } from "#kernel/ids";
import { deleteEventsBetween } from "./log.store.ts";

const world = {
  clock: { now: 1_795_000_000, frozen: true },
  apps: [
    { id: "1001", name: "Shop", secret: "s" },
    { id: "1002", name: "Game", secret: "s" },
    { id: "1003", name: "Quiet", secret: "s" },
  ],
};

interface LogPage {
  readonly epoch: string;
  readonly data: readonly { readonly id: string; readonly event_name: string; readonly advertiser_id: string }[];
  readonly gaps: readonly { readonly first_request: number; readonly last_request: number }[];
  readonly cursor: string;
  readonly has_more: boolean;
}

async function open(database: "sqlite" | "postgres") {
  const control = await openControl({ database, world });
  const send = async (app: string, ...names: string[]): Promise<number> => {
    const custom_events = names.map((_eventName) => ({ _eventName }));
    const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events };
    return (await control.plaza.post(`/v26.0/${app}/activities`, { bearer: `${app}|s`, headers: { "x-forwarded-for": "1.2.3.4" }, body })).status;
  };
  const read = async (query = "", app = "1001"): Promise<LogPage> => {
    const { status, body } = await control.request("GET", `app-events/${app}/log?${query}`);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    return body;
  };
  const ids = async (query = "") => (await read(query)).data.map(({ id }) => id);
  const expire = (app: string, after: number, last: number) =>
    control.plaza.world.database.write((tx) => deleteEventsBetween(tx, nodeId(app), after, last, 0));
  return { ...control, send, read, ids, expire };
}

onEachDatabase("the log of app events, read forwards", (database) => {
  test("D-423: pages of any size have each event once, in the order in which requests were stored", async () => {
    const { send, read } = await open(database);
    const wanted: string[] = [];
    for (let request = 1; request <= 7; request++) {
      const names = Array.from({ length: (request % 3) + 1 }, (_, position) => `n${position}`);
      expect(await send("1001", ...names)).toBe(200);
      wanted.push(...names.map((_, position) => `${request}-${position}`));
    }
    for (const limit of [1, 2, 3, 4, 1_000]) {
      const seen: string[] = [];
      let query = `limit=${limit}`;
      for (let hasMore = true; hasMore; ) {
        const page = await read(query);
        expect(page.data.length).toBeLessThanOrEqual(limit);
        expect(page.data.map(({ advertiser_id }) => advertiser_id)).toEqual(page.data.map(() => "a"));
        expect(page.gaps).toEqual([]);
        seen.push(...page.data.map(({ id }) => id));
        query = `limit=${limit}&after=${page.cursor}&epoch=${page.epoch}`;
        hasMore = page.has_more;
      }
      expect(seen).toEqual(wanted);
      expect(await read(query)).toMatchObject({ data: [], gaps: [], cursor: "7", has_more: false });
      expect(query).toContain("after=7&");
    }
  });

  test("D-423: what retention deleted before it was read is reported, also the rest of a request and the end of the log", async () => {
    const { send, read, expire } = await open(database);
    for (let request = 1; request <= 6; request++) await send("1001", "a", "b", "c");
    expect(await read("limit=4")).toMatchObject({ gaps: [], cursor: "2-0", has_more: true });
    await expire("1001", 0, 1);
    expect(await read("limit=2&after=2-0")).toMatchObject({ data: [{ id: "2-1" }, { id: "2-2" }], gaps: [], cursor: "2" });
    await expire("1001", 1, 3);
    expect(await read("limit=2&after=2-0")).toMatchObject({ data: [{ id: "4-0" }, { id: "4-1" }], gaps: [{ first_request: 2, last_request: 3 }] });
    expect(await read("limit=2&after=2")).toMatchObject({ data: [{ id: "4-0" }, { id: "4-1" }], gaps: [{ first_request: 3, last_request: 3 }] });
    await expire("1001", 4, 5);
    expect(await read("after=2")).toMatchObject({
      data: [{ id: "4-0" }, { id: "4-1" }, { id: "4-2" }, { id: "6-0" }, { id: "6-1" }, { id: "6-2" }],
      gaps: [
        { first_request: 3, last_request: 3 },
        { first_request: 5, last_request: 5 },
      ],
      cursor: "6",
    });
    await expire("1001", 0, 6);
    expect(await read("after=4")).toMatchObject({ data: [], gaps: [{ first_request: 5, last_request: 6 }], cursor: "6", has_more: false });
    expect(await read("after=6")).toMatchObject({ data: [], gaps: [], cursor: "6" });
    await send("1001", "d");
    expect(await read("after=6")).toMatchObject({ data: [{ id: "7-0" }], gaps: [], cursor: "7" });
  });

  test("D-423: the list has each app that ever sent events, also a deleted one, with its newest request", async () => {
    const { request, send, read, expire } = await open(database);
    await send("1001", "a");
    await send("1002", "a");
    await send("1002", "b");
    const listed = async () => {
      const { data } = (await request("GET", "app-event-logs")).body as { data: { app: string; last_request: number; epoch: string }[] };
      return data.map(({ app, last_request }) => ({ app, last_request }));
    };
    const both = [
      { app: "1001", last_request: 1 },
      { app: "1002", last_request: 2 },
    ];
    expect(await listed()).toEqual(both);
    await expire("1001", 0, 1);
    expect(await listed()).toEqual(both);
    const first = (await request("GET", "app-event-logs?limit=1")).body;
    const { pathname, search } = new URL(first.paging.next);
    expect((await request("GET", pathname + search)).body.data).toMatchObject([{ app: "1002" }]);
    expect((await request("DELETE", "nodes/apps/1002")).status).toBe(200);
    expect(await listed()).toEqual(both);
    expect(await read("after=1", "1002")).toMatchObject({ data: [], gaps: [{ first_request: 2, last_request: 2 }], cursor: "2" });
    expect((await request("POST", "nodes/apps", world.apps[1])).status).toBe(201);
    await send("1002", "c");
    expect(await read("after=2", "1002")).toMatchObject({ data: [{ id: "3-0" }], gaps: [], cursor: "3" });
  });

  test("D-423: a cursor that the log cannot have, or of another epoch, is refused", async () => {
    const { request, send, read } = await open(database);
    await send("1001", "a");
    const { epoch } = await read();
    expect((await request("GET", "app-event-logs")).body.data).toMatchObject([{ epoch }]);
    const refusal = async (query: string, app = "1001") => {
      const { status, body } = await request("GET", `app-events/${app}/log?${query}`);
      return { status, parameter: body.error?.parameter };
    };
    expect(await refusal(`after=1&epoch=${epoch}`)).toEqual({ status: 200, parameter: undefined });
    expect(await refusal("after=2")).toEqual({ status: 409, parameter: "after" });
    expect((await request("POST", "log-epoch")).status).toBe(200);
    expect(await refusal(`after=1&epoch=${epoch}`)).toEqual({ status: 409, parameter: "epoch" });
    expect(await refusal("after=1&epoch=0")).toEqual({ status: 409, parameter: "epoch" });
    expect(await refusal("after=x")).toEqual({ status: 400, parameter: "after" });
    expect(await refusal("limit=1001")).toEqual({ status: 400, parameter: "limit" });
    expect(await refusal("", "1004")).toMatchObject({ status: 404 });
    expect(await read("", "1003")).toMatchObject({ data: [], gaps: [], cursor: "0", has_more: false });
  });

  test("D-423: batches of one app that are stored at the same time never appear behind a reader", async () => {
    const { send, read } = await open(database);
    let isWriting = true;
    const writing = Promise.all(Array.from({ length: 60 }, (_, at) => send("1001", `n${at % 5}`, "last"))).finally(() => {
      isWriting = false;
    });
    const seen: string[] = [];
    let after = "0";
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      const page = await read(`limit=7&after=${after}`);
      expect(page.gaps).toEqual([]);
      seen.push(...page.data.map(({ id }) => id));
      after = page.cursor;
      isLast &&= !page.has_more;
    }
    expect(await writing).toEqual(Array.from({ length: 60 }, () => 200));
    expect(seen).toEqual(Array.from({ length: 120 }, (_, at) => `${Math.floor(at / 2) + 1}-${at % 2}`));
  });
});
