import { expect, test } from "bun:test";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { startEncoder } from "#harness/live/encoder";
import { type LiveServer, openLiveServer } from "#harness/live/live-server";
import { hasNginxRtmp, startNginxRtmp } from "#harness/live/nginx-rtmp";
import { temporaryFolder } from "#harness/server";

const isSending = ({ feed }: { feed: { is_sending: boolean } }): boolean => feed.is_sending;

test("D-118: a media server that can only call an address takes the streams: keys, state, and the page's end", async () => {
  const liveServer = await openLiveServer(join(temporaryFolder(), "data"), ["--rtmp-url", "rtmp://media.example/live"]);
  const address = `${liveServer.server.control_url}/v1/worlds/default/live-feeds/callback`;
  const { id, stream_url, stream_key } = await liveServer.create();
  expect(stream_url).toBe(`rtmp://media.example/live/${stream_key}`);
  // A callback request as nginx's RTMP module sends it.
  const report = async (call: string, name = stream_key): Promise<number> => {
    const fields = { call, addr: "127.0.0.1", clientid: "1", app: "live", flashver: "FMLE/3.0", tcurl: "rtmp://127.0.0.1/live", name, type: "live" };
    return (await fetch(address, { method: "POST", body: new URLSearchParams(fields) })).status;
  };
  expect(await report("publish", "wrong")).toBe(403);
  expect(await report("publish")).toBe(200);
  expect(await liveServer.state(id)).toMatchObject({ state: "live", feed: { is_sending: true } });
  expect(await report("publish_done")).toBe(200);
  expect(await liveServer.state(id)).toMatchObject({ state: "reconnecting" });
  // nginx's RTMP module is a package of Debian that not every machine has.
  if (hasNginxRtmp()) await playsWithNginx(liveServer, address);
});

/** Repeats the checks above with nginx itself. */
async function playsWithNginx(liveServer: LiveServer, address: string): Promise<void> {
  const directives = ["on_publish", "on_update", "on_publish_done"].map((event) => `${event} ${address};`);
  const nginx = await startNginxRtmp(temporaryFolder(), directives);
  afterThisTest(() => nginx.stop());
  const { id, stream_key } = await liveServer.create();
  expect(await startEncoder(`rtmp://${nginx.host}/live/wrong`).ended).not.toBe(0);
  const url = `rtmp://${nginx.host}/live/${stream_key}`;
  const first = startEncoder(url);
  expect(await liveServer.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 1 } });
  await first.kill();
  await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  const second = startEncoder(url);
  expect(await liveServer.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 2 } });
  await liveServer.graph(id, { end_live_video: true });
  // The media server's next update of the stream is refused, and nginx disconnects the encoder.
  expect(await second.ended).not.toBe(0);
  expect(await startEncoder(url).ended).not.toBe(0);
}
