import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { startEncoder } from "#harness/live/encoder";
import { ingestOf, type LiveState, openLiveServer } from "#harness/live/live-server";
import { temporaryFolder } from "#harness/server";
import { readRecording } from "#recordings/read-recording";

const dataFolder = (): string => join(temporaryFolder(), "data");
const isSending = ({ feed }: { feed: { is_sending: boolean } }): boolean => feed.is_sending;

async function isGone(pid: number): Promise<void> {
  const isRunning = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (isRunning()) await Bun.sleep(20);
}

test("LIVE-9, LIVE-7: the state follows ffmpeg: live, cut off, back with another size, ended", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url, stream_key } = await liveServer.create();
  expect(stream_url).toBe(`${liveServer.server.rtmp_url}/${stream_key}`);
  const first = startEncoder(stream_url);
  expect(await liveServer.stateWhen(id, isSending)).toMatchObject({ state: "live", next: null, feed: { session: 1 } });
  await first.kill();
  expect(await liveServer.stateWhen(id, ({ state }) => state === "reconnecting")).toMatchObject({
    status: "LIVE",
    next: { event: "reconnect_window_closed" },
  });
  const second = startEncoder(stream_url, { size: "256x144" });
  expect(await liveServer.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 2 } });
  expect(await liveServer.graph(id, { end_live_video: true })).toMatchObject({ success: true });
  // The server disconnects the encoder, and the encoder reads the reason.
  expect(await second.ended).not.toBe(0);
  expect(await second.messages).toContain("The broadcast has ended");
  expect(await liveServer.graph(`${id}?fields=status,end_reason`)).toEqual({ id, status: "VOD" });
  const late = startEncoder(stream_url, { seconds: 2 });
  expect(await late.ended).not.toBe(0);
  expect(await late.messages).toContain("Unknown stream key");
});

test("LIVE-11: a stream without audio ends the broadcast, and its page reads why", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  const encoder = startEncoder(stream_url, { hasAudio: false, isFast: true, seconds: 20 });
  expect(await encoder.ended).not.toBe(0);
  expect(await liveServer.stateWhen(id, ({ status }) => status === "VOD")).toMatchObject({ end_reason: "NO_AUDIO" });
});

test("LIVE-9: after SIGKILL in the middle of a broadcast the recording is complete, the window runs, and the encoder reconnects", async () => {
  const data = dataFolder();
  const before = await openLiveServer(data);
  const { id, stream_url, stream_key } = await before.create();
  startEncoder(stream_url);
  await before.stateWhen(id, isSending);
  const recordings = join(data, "recordings");
  const recorded = async () => (await readRecording(recordings, "default", id))[0]?.segments.length ?? 0;
  while ((await recorded()) < 2) await Bun.sleep(50);
  const ingest = ingestOf(before);
  await before.server.kill();
  await isGone(ingest);
  const segmentsBefore = await recorded();
  const after = await openLiveServer(data);
  expect(await after.state(id)).toMatchObject({ state: "reconnecting", status: "LIVE", next: { event: "reconnect_window_closed" } });
  startEncoder(`${after.server.rtmp_url}/${stream_key}`);
  expect(await after.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 2 } });
  expect((await readRecording(recordings, "default", id))[0]?.segments.length).toBe(segmentsBefore);
  // When the server ends in an orderly way, the feed is lost too, and the recording is marked as ended.
  expect(await after.server.stop()).toBe(0);
  expect((await readRecording(recordings, "default", id))[1]?.hasEnded).toBe(true);
});

test("the control API shows the health of a feed, also as server-sent events until the video is deleted", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  const { control_url, control_key, base_url } = liveServer.server;
  const headers = { authorization: `Bearer ${control_key}`, accept: "text/event-stream" };
  const response = await fetch(`${control_url}/v1/worlds/default/live-videos/${id}/ingest`, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  startEncoder(stream_url, { size: "256x144" });
  const states: LiveState[] = [];
  let text = "";
  for await (const part of response.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(part);
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) if (event.startsWith("event: state\ndata: ")) states.push(JSON.parse(event.slice("event: state\ndata: ".length)));
    // The server has received the first two key frames.
    if (typeof states.at(-1)?.health?.key_frame_ms !== "number") continue;
    await fetch(`${base_url}/v26.0/${id}`, { method: "DELETE", headers: { authorization: "Bearer author" } });
  }
  expect(states[0]).toMatchObject({ feed: { is_sending: false } });
  expect(states[0]).not.toHaveProperty("health");
  const { health } = states.findLast((state) => state.health !== undefined) as LiveState;
  expect(health).toMatchObject({ width: 256, height: 144, key_frame_ms: 1000, gaps: 0 });
  expect(health?.bits_per_second).toBeGreaterThan(20_000);
  expect(health?.audio_bits_per_second).toBeGreaterThan(4_000);
});

test("with a certificate, encoders send over TLS to secure_stream_url", async () => {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, receiverCertificate);
  writeFileSync(key, receiverKey);
  const liveServer = await openLiveServer(dataFolder(), ["--tls-cert", cert, "--tls-key", key, "--rtmps-port", "0"]);
  const { id, secure_stream_url } = await liveServer.create();
  expect(secure_stream_url).toMatch(/^rtmps:\/\/127\.0\.0\.1:\d+\/live\//);
  startEncoder(secure_stream_url as string);
  expect(await liveServer.stateWhen(id, isSending)).toMatchObject({ state: "live" });
});

test("a dead ingest process is started again on its port, and takes the streams again", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  const first = startEncoder(stream_url);
  await liveServer.stateWhen(id, isSending);
  process.kill(ingestOf(liveServer), "SIGKILL");
  expect(await first.ended).not.toBe(0);
  await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  for (;;) {
    // Until the ingest process listens again, the system refuses connections.
    const again = startEncoder(stream_url);
    const state = await Promise.race([liveServer.stateWhen(id, isSending), again.ended]);
    if (typeof state === "number") continue;
    expect(state).toMatchObject({ state: "live", feed: { session: 2 } });
    break;
  }
});

test("the default port is replaced if it is in use; a requested one is not", async () => {
  // If another program uses the port already, the test does not need to block it.
  try {
    const blocker = Bun.listen({ hostname: "127.0.0.1", port: 1935, socket: { data: () => {} } });
    afterThisTest(() => blocker.stop(true));
  } catch {}
  const { startServer } = await import("#harness/server");
  const environment = { PLAZA_RTMP_PORT: "" };
  const plaza = ["--json", "--port", "0", "--control-port", "0", "--data", ":memory:"];
  const child = Bun.spawn([join(import.meta.dir, "../../bin/plaza"), "start", ...plaza], {
    ...{ cwd: temporaryFolder(), env: { ...process.env, ...environment }, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const { value } = await child.stdout.getReader().read();
  const { rtmp_url } = JSON.parse(new TextDecoder().decode(value)) as { rtmp_url: string };
  expect(rtmp_url).toMatch(/^rtmp:\/\/127\.0\.0\.1:\d+\/live$/);
  expect(rtmp_url).not.toContain(":1935/");
  const port = new URL(rtmp_url).port;
  await expect(startServer(["--data", ":memory:", "--rtmp-port", port])).rejects.toThrow(/ended with 2.*in use/s);
});
