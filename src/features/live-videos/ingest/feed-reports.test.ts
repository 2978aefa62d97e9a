/** Tests the reports of an operator's own media server, and how long the media server may be silent (D-115, D-118). */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { cafe } from "#harness/worlds";
import { hashOfKey } from "../lifecycle/transitions.ts";
import { FeedRegistry } from "./feed-registry.ts";
import { findIngest } from "./ingests.store.ts";

const KEY = "a-key-that-encoders-know";
const OTHER_KEY = "another-key-of-encoders";
const live_videos = [
  { id: "5301", page: "2001", status: "LIVE", stream_key: KEY },
  { id: "5302", page: "2001", status: "LIVE", stream_key: OTHER_KEY },
];

onEachDatabase("a media server", (database) => {
  const open = async () => {
    const { request, plaza } = await openControl({ database, world: { ...cafe, live_videos } });
    const report = async (event: string, more: object = {}) => {
      const { status, body } = await request("POST", "live-feeds", { event, stream_key: KEY, ...more });
      return status === 200 ? `${body.state} ${body.feed.is_sending} ${body.feed.session}` : `${status} ${body.error.parameter ?? body.error.code}`;
    };
    const callback = async (fields: Record<string, string>) =>
      (await request("POST", "live-feeds/callback", String(new URLSearchParams(fields)), "")).status;
    const state = async (id = "5301") => (await request("GET", `live-videos/${id}/ingest`)).body;
    return { plaza, report, callback, state };
  };

  test("a feed begins, breaks off, ends and begins again, each time with its number; a check changes nothing", async () => {
    const { report } = await open();
    expect([await report("check"), await report("lost"), await report("started"), await report("check")]).toEqual([
      ...["live false 0", "409 conflict", "live true 1", "live true 1"],
    ]);
    expect([await report("lost", { session: 2 }), await report("lost", { session: 1 }), await report("ended", { session: 1 })]).toEqual([
      ...["409 conflict", "reconnecting false 1", "409 conflict"],
    ]);
    expect([await report("started"), await report("ended", { session: 1 }), await report("ended")]).toEqual([
      ...["live true 2", "409 conflict", "reconnecting false 2"],
    ]);
  });

  test("a feed without audio or storage ends its broadcast, and its key is then invalid", async () => {
    const { report, state } = await open();
    await report("started");
    expect(await report("no_audio")).toBe("stopped false 1");
    for (const event of ["check", "started", "lost", "no_audio"]) expect(await report(event)).toBe("404 not_found");
    await report("started", { stream_key: OTHER_KEY });
    expect(await report("no_storage", { stream_key: OTHER_KEY })).toBe("stopped false 1");
    expect([(await state()).end_reason, (await state("5302")).end_reason]).toEqual(["NO_AUDIO", "NO_STORAGE"]);
  });

  test("D-295: it says why it refused an encoder", async () => {
    const { report, state } = await open();
    expect(await report("refused")).toBe("400 reason");
    expect(await report("refused", { reason: "é".repeat(201) })).toStartWith("400 ");
    expect(await report("refused", { reason: "the audio is MP3" })).toBe("live false 0");
    expect(await state()).toMatchObject({
      refused: { reason: "the audio is MP3" },
      history: [{ event: "feed_refused", reason: "the audio is MP3" }],
    });
  });

  test("an unknown key, or one of another length, is refused", async () => {
    const { report } = await open();
    for (const event of ["check", "started", "ended"]) expect(await report(event, { stream_key: "x".repeat(256) })).toBe("404 not_found");
    for (const stream_key of ["", "x".repeat(257)]) expect(await report("check", { stream_key })).toStartWith("400 ");
    expect(await report("lost", { session: 0 })).toStartWith("400 ");
    expect(await report("paused")).toStartWith("400 ");
    expect(await report("check", { stream_key: "x" })).toBe("404 not_found");
    expect(await report("check", { stream_keys: [KEY] })).toStartWith("400 ");
  });

  test("D-118: a media server that reports repeatedly counts as alive for 90 seconds after each report, to the millisecond", async () => {
    const first = { call: "update_publish", name: KEY, clientid: "1" };
    const { plaza, callback, state } = await open();
    const registry = new FeedRegistry(plaza.world);
    expect(await callback(first)).toBe(200);
    plaza.time.realMs += 60_000;
    expect(await callback(first)).toBe(200);
    plaza.time.realMs += 90_000;
    await registry.loseSilent();
    expect([await callback({ ...first, clientid: "2" }), (await state()).feed]).toEqual([403, { is_sending: true, session: 1 }]);
    plaza.time.realMs += 1;
    expect([await callback({ ...first, clientid: "2" }), (await state()).feed]).toEqual([200, { is_sending: true, session: 2 }]);
    plaza.time.realMs += 90_001;
    await registry.loseSilent();
    expect((await state()).feed).toEqual({ is_sending: false, session: 2 });
  });

  test("D-118: a key is read from the end of a path of 512 characters; the rest is cut off", async () => {
    const { callback } = await open();
    const path = (characters: number) => `/${KEY}`.padStart(characters, "live");
    const publish = (name: string) => callback({ call: "publish", name, clientid: "1" });
    expect([await publish(path(513)), await publish(`${path(512)}x`), await publish(path(512))]).toEqual([403, 200, 200]);
  });

  test("D-118: a media server that reports only once never times out; its end deletes everything about it", async () => {
    const { plaza, callback, state } = await open();
    const known = (source: string) => findIngest(plaza.world.database.reader, `media server ${hashOfKey(KEY)} ${source}`);
    await callback({ call: "publish", name: `live/${KEY}?token=x`, clientid: "1" });
    plaza.time.realMs += 1_000_000;
    await new FeedRegistry(plaza.world).loseSilent();
    expect([(await state()).feed.is_sending, await known("1")]).toEqual([true, undefined]);
    for (const call of ["update", "publish_done"]) {
      expect(await callback({ call, name: KEY, clientid: "1" })).toBe(200);
      expect([(await state()).feed, (await known("1")) !== undefined]).toEqual([{ is_sending: call === "update", session: 1 }, call === "update"]);
    }
    // A second report that the encoder's connection has ended changes nothing. A report about an unknown key changes nothing.
    const { history } = await state();
    expect([
      await callback({ call: "publish_done", name: KEY, clientid: "1" }),
      await callback({ call: "publish_done", name: "x", clientid: "1" }),
    ]).toEqual([...[200, 200]]);
    expect((await state()).history).toEqual(history);
  });
});
