import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { cafe } from "#harness/worlds";
import { FeedRegistry } from "./feed-registry.ts";

const KEY = "a-key-that-encoders-know";
const scopes = ["pages_manage_posts", "pages_read_engagement"];
const tokens = [...cafe.tokens, { token: "author", type: "page", app: "1001", page: "2001", scopes }];
const world = { ...cafe, tokens, live_videos: [{ id: "5301", page: "2001", status: "LIVE", stream_key: KEY }] };

onEachDatabase("a media server that calls an address", (database) => {
  const open = async () => {
    const control = await openControl({ database, world });
    const callback = async (fields: Record<string, string> | string) => {
      const body = typeof fields === "string" ? fields : String(new URLSearchParams({ app: "live", addr: "192.0.2.7", ...fields }));
      // The request has no control key, because the stream key is its secret.
      return (await control.request("POST", "live-feeds/callback", body, "")).status;
    };
    const state = async () => (await control.request("GET", "live-videos/5301/ingest")).body;
    return { ...control, callback, state };
  };
  const publish = { call: "publish", name: KEY, clientid: "1" };

  test("D-118: nginx's RTMP module: publish, update and publish_done of the stream that sends", async () => {
    const { callback, state, plaza } = await open();
    expect(await callback({ ...publish, name: "unknown" })).toBe(403);
    expect(await callback(publish)).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 1 } });
    // The first connection of the encoder reports once more. A second connection with the same key is refused while the first connection reports.
    expect(await callback({ ...publish, call: "update_publish" })).toBe(200);
    expect(await callback({ ...publish, clientid: "2" })).toBe(403);
    expect(await callback({ ...publish, call: "publish_done", clientid: "2" })).toBe(200);
    expect(await state()).toMatchObject({ feed: { is_sending: true, session: 1 } });
    expect(await callback({ ...publish, call: "publish_done" })).toBe(200);
    expect(await state()).toMatchObject({ state: "reconnecting", feed: { is_sending: false } });
    expect(await callback({ ...publish, clientid: "3" })).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
    // The test ends the broadcast, so the response to the next update makes nginx's RTMP module disconnect the encoder.
    await plaza.post("/v26.0/5301", { bearer: "author", body: { end_live_video: true } });
    expect(await callback({ ...publish, clientid: "3", call: "update_publish" })).toBe(403);
  });

  test("D-118: a silent media server loses its feed, and gets it back with its next report", async () => {
    const { callback, state, plaza } = await open();
    await callback(publish);
    await callback({ ...publish, call: "update_publish" });
    const registry = new FeedRegistry(plaza.world);
    plaza.time.realMs += 80_000;
    await registry.loseSilent();
    expect(await state()).toMatchObject({ feed: { is_sending: true } });
    plaza.time.realMs += 20_000;
    await registry.loseSilent();
    expect(await state()).toMatchObject({ state: "reconnecting", feed: { is_sending: false } });
    expect(await callback({ ...publish, call: "update_publish" })).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
  });

  test("D-118: MediaMTX asks in JSON, and reports with its hooks; a newer publisher replaces an older one", async () => {
    const { callback, state } = await open();
    const asked = { user: "", password: "", ip: "192.0.2.7", action: "publish", path: `live/${KEY}`, protocol: "rtmp", id: null, query: "" };
    expect(await callback(JSON.stringify(asked))).toBe(200);
    expect(await callback(JSON.stringify({ ...asked, path: "live/other" }))).toBe(403);
    for (const action of ["read", "playback", "api", "metrics", "pprof", "Publish", "", undefined, true])
      expect({ action, status: await callback(JSON.stringify({ ...asked, action })) }).toEqual({ action, status: 403 });
    expect(await state()).toMatchObject({ feed: { is_sending: false } });
    const hook = { name: `live/${KEY}`, clientid: "first" };
    expect(await callback({ ...hook, call: "publish" })).toBe(200);
    expect(await callback({ ...hook, call: "publish", clientid: "second" })).toBe(200);
    expect(await callback({ ...hook, call: "publish_done" })).toBe(200);
    expect(await state()).toMatchObject({ feed: { is_sending: true, session: 2 } });
  });

  const newKey = async (control: Awaited<ReturnType<typeof open>>): Promise<string> =>
    (await control.plaza.post("/v26.0/5301", { bearer: "author", body: { regenerate_stream_key: true } })).body.stream_key;

  test("D-308: a feed goes on with a replaced key, and its end is taken; the new key then has ten minutes", async () => {
    const control = await open();
    const { callback, state, request } = control;
    await callback(publish);
    const key = await newKey(control);
    expect(await callback({ ...publish, call: "update" })).toBe(200);
    expect(await state()).toMatchObject({ state: "key_replaced", feed: { is_sending: true, session: 1 } });
    // No encoder can connect with the old key any more.
    expect(await callback({ ...publish, clientid: "2" })).toBe(403);
    expect(await callback({ ...publish, call: "publish_done", clientid: "2" })).toBe(200);
    expect(await state()).toMatchObject({ feed: { is_sending: true, session: 1 } });
    expect(await callback({ ...publish, call: "publish_done" })).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: false } });
    expect(await callback(publish)).toBe(403);
    expect((await request("POST", "clock/advance", { seconds: 590 })).status).toBe(200);
    expect(await state()).toMatchObject({ state: "live" });
    expect(await callback({ ...publish, name: key, clientid: "3" })).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
  });

  test("D-308: an encoder with a newer key replaces one that sends with an older key, whenever that was heard of", async () => {
    const control = await open();
    const { callback, state } = control;
    await callback(publish);
    await callback({ ...publish, call: "update" });
    const newer = { ...publish, name: await newKey(control), clientid: "2" };
    expect(await callback(newer)).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
    expect(await callback({ ...publish, call: "update" })).toBe(403);
    expect(await callback({ ...publish, call: "publish_done" })).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
  });

  test("D-308: a media server that reports as JSON ends a feed by the key that it began with", async () => {
    const control = await open();
    const { request, state } = control;
    const report = async (event: string, stream_key: string) => (await request("POST", "live-feeds", { event, stream_key })).status;
    expect(await report("started", KEY)).toBe(200);
    const key = await newKey(control);
    for (const event of ["check", "started"]) expect({ event, status: await report(event, KEY) }).toEqual({ event, status: 404 });
    // No encoder sends with the new key.
    expect(await report("lost", key)).toBe(409);
    expect(await state()).toMatchObject({ state: "key_replaced", feed: { is_sending: true } });
    expect(await report("lost", KEY)).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: false } });
    expect(await report("lost", KEY)).toBe(404);
    expect(await report("started", key)).toBe(200);
    expect(await state()).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
  });

  test("a key that is replaced while its publisher is checked is refused", async () => {
    const { callback, state, plaza } = await open();
    const { database: store } = plaza.world;
    const { write } = store;
    store.write = (async (body) => {
      store.write = write;
      expect((await plaza.post("/v26.0/5301", { bearer: "author", body: { regenerate_stream_key: true } })).status).toBe(200);
      return write.call(store, body);
    }) as typeof write;
    expect(await callback(publish)).toBe(403);
    expect(await state()).toMatchObject({ feed: { is_sending: false } });
  });

  test("a callback cannot end or replace a feed of this server's own ingest", async () => {
    const { callback, state, plaza } = await open();
    const registry = new FeedRegistry(plaza.world);
    await registry.start(KEY, { width: 320, height: 180 });
    expect([await callback(publish), await callback({ ...publish, call: "publish_done" })]).toEqual([403, 200]);
    expect(await state()).toMatchObject({ feed: { is_sending: true, session: 1 } });
  });

  test("an invalid callback request names the mistake", async () => {
    const { request } = await open();
    const refusal = async (body: string) => (await request("POST", "live-feeds/callback", body, "")).body.error;
    expect(await refusal("call=play&name=x")).toMatchObject({ code: "bad_request", parameter: "call" });
    for (const form of ["call=publish", "call=publish&name=", "call=publish_done&name="])
      expect(await refusal(form)).toMatchObject({ code: "bad_request", parameter: "name" });
    expect(await refusal("{}")).toMatchObject({ code: "bad_request", parameter: "path" });
    expect(await refusal("{")).toMatchObject({ code: "bad_request" });
    expect(await refusal(`call=publish&name=${"x".repeat(20_000)}`)).toMatchObject({ code: "body_too_large" });
  });

  test("a world that does not exist is answered as one that does not have the key, also if the first world has it", async () => {
    const { app, state } = await open();
    const send = async (path: string, body: string) => {
      const response = await app.request(`/v1/worlds/${path}/live-feeds/callback`, { method: "POST", body });
      return { status: response.status, headers: [...response.headers], text: await response.text() };
    };
    const forms = ["publish", "update", "update_publish", "publish_done", "other"].map(
      (call) => (name: string) => `call=${call}&name=${name}&clientid=1`,
    );
    const bodies = [...forms, (name: string) => `{"action":"publish","path":"live/${name}"}`, () => "{", () => "call=publish"];
    for (const bodyOf of bodies) {
      const known = await send("default", bodyOf("unknown-key-of-an-encoder"));
      for (const world of ["nothing", "No-World"])
        for (const key of ["unknown-key-of-an-encoder", KEY]) expect({ world, ...(await send(world, bodyOf(key))) }).toEqual({ world, ...known });
    }
    expect(await state()).toMatchObject({ feed: { is_sending: false, session: 0 } });
  });
});
