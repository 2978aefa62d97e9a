/** D-119: tests how the control API starts and stops the test encoder. The tests do not check the stream of the test encoder. */
import { expect, test } from "bun:test";
import type { Streaming, TestFeed } from "#graph/worlds/world";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { hashOfKey } from "../lifecycle/transitions.ts";
import { FeedRegistry } from "./feed-registry.ts";
import { type Play, playsTestClip, playTestClip, stopTestClip } from "./test-encoder.ts";

const live_videos = [
  { id: "5301", page: "2001", status: "LIVE" },
  { id: "5302", page: "2001" },
  { id: "5303", page: "2001", status: "VOD" },
];
const SIZE = { width: 640, height: 360 };

onEachDatabase("the test encoder", (database) => {
  /** Opens a world in which `send` replaces the test encoder, and gets the stream key that the encoder would get. */
  const open = async (send?: (key: string, registry: FeedRegistry) => Promise<unknown>) => {
    const { request, plaza } = await openControl({ database, world: { ...cafe, live_videos } });
    const registry = new FeedRegistry(plaza.world);
    const keys: string[] = [];
    const stopped: string[] = [];
    const endings: ((reason: string) => void)[] = [];
    const playClip = async (key: string) => {
      keys.push(key);
      const ended = Promise.withResolvers<string>();
      endings.push(ended.resolve);
      await send?.(key, registry);
      return { ended: ended.promise, stop: () => void stopped.push(key) };
    };
    plaza.world.streaming = { rtmpPort: 1_935, rtmpsPort: undefined, rtmpUrl: undefined, ...(send === undefined ? {} : { playClip }) };
    const ask = async (method: string, id = "5301") => {
      const { status, body } = await request(method, `live-videos/${id}/test-encoder`);
      return status === 200 ? `${body.state} ${body.feed.is_sending} ${body.test_encoder}` : `${status} ${body.error.message}`;
    };
    const state = async (id = "5301") => (await request("GET", `live-videos/${id}/ingest`)).body;
    return { plaza, registry, request, ask, state, keys, stopped, endings };
  };
  const begin = async (key: string, registry: FeedRegistry) => void (await registry.start(key, SIZE));

  test("has a pass that is valid for its video only while it sends", async () => {
    const { registry, ask, keys, stopped, endings, state } = await open(begin);
    expect(await ask("POST")).toBe("live true true");
    expect(await ask("POST")).toBe("409 an encoder sends already");
    expect((await registry.check(keys[0] as string))?.feed).toEqual({ video: "5301", session: 0 });
    expect(await ask("DELETE")).toBe("reconnecting false true");
    expect(stopped).toEqual(keys);
    endings[0]?.("over");
    await Promise.resolve();
    expect(await state()).toMatchObject({ state: "reconnecting", test_encoder: false });
    expect(await registry.check(keys[0] as string)).toBeUndefined();
    expect(await registry.start(keys[0] as string, SIZE)).toBeUndefined();
    expect(await ask("DELETE")).toBe("409 the test encoder does not send to this live video");
  });

  test("sends to an unpublished video without publishing it", async () => {
    const { ask } = await open(begin);
    expect(await ask("POST", "5302")).toBe("unpublished true true");
    expect(await ask("DELETE", "5302")).toBe("unpublished false true");
  });

  test("is refused with a reason if the video is over, is missing, or has an encoder, or if no port is open", async () => {
    const { ask, request, plaza } = await open(begin);
    expect(await ask("POST", "5303")).toBe("409 no encoder can send to a live video that is vod");
    for (const method of ["POST", "DELETE"]) expect(await ask(method, "1")).toBe("404 there is no live video 1");
    await request("POST", "live-videos/5301/ingest", { event: "started" });
    expect(await ask("POST")).toBe("409 an encoder sends already");
    expect(await ask("DELETE")).toBe("409 the test encoder does not send to this live video");
    plaza.world.streaming = undefined;
    expect(await ask("POST", "5302")).toBe("409 encoders cannot connect to this server: start the server with --rtmp-port");
    const elsewhere = await open();
    expect(await elsewhere.ask("POST")).toBe(
      "409 a media server of your own receives the streams (--rtmp-url), and the test encoder can send only to this server",
    );
  });

  test("reports why its connection is refused, or ends before its stream has begun; its pass is then invalid", async () => {
    const refused = await open(() => Promise.reject(new Error("nobody listens")));
    expect(await refused.ask("POST")).toBe("409 the test encoder cannot send: nobody listens");
    expect(await refused.registry.check(refused.keys[0] as string)).toBeUndefined();
    const cut = await open(async () => {
      queueMicrotask(() => cut.endings[0]?.("The server is shutting down"));
    });
    expect(await cut.ask("POST")).toBe("409 the test encoder cannot send: The server is shutting down");
    expect(await cut.state()).toMatchObject({ test_encoder: false, feed: { is_sending: false } });
    expect(await cut.registry.check(cut.keys[0] as string)).toBeUndefined();
  });

  test("is disconnected if its stream does not begin in time, even if it connects later", async () => {
    const { plaza, stopped } = await open(async () => {});
    const { playClip } = plaza.world.streaming as Required<Streaming>;
    const begin = (play: Play) => {
      const late = Promise.withResolvers<never>();
      const playing = playTestClip(plaza.world, nodeId("5301"), { text: "key", hash: hashOfKey("key") }, play, late.promise);
      return { playing, isTooLate: () => late.reject(new Error("too late")) };
    };
    const connected = begin(playClip);
    while (!stopTestClip(plaza.world, nodeId("5301"))) await Promise.resolve();
    connected.isTooLate();
    await expect(connected.playing).rejects.toThrow("too late");
    expect(stopped).toEqual(["key", "key"]);
    const connection = Promise.withResolvers<TestFeed>();
    const connecting = begin(() => connection.promise);
    connecting.isTooLate();
    await expect(connecting.playing).rejects.toThrow("too late");
    connection.resolve(await playClip("second"));
    await connection.promise;
    expect({ stopped, plays: playsTestClip(plaza.world, nodeId("5301")) }).toEqual({ stopped: ["key", "key", "second"], plays: false });
  });
});
