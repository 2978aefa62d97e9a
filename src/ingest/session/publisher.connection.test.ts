/** Tests an encoder's connection from its first byte to its end, without a socket: its stream key, its time limits, and the reasons for its end. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FEED, KEY_PICTURE, openConnections, until, VIDEO_CONFIG } from "#harness/live/connections";
import { chunked, command, media, publishing } from "#harness/live/rtmp";
import type { FeedName } from "../channel.ts";
import { writeAmf } from "../rtmp/amf0.ts";

const STARTED = "NetStream.Publish.Start";

test("a connection without a key is closed after ten seconds, silent or not", () => {
  const { time, connect } = openConnections();
  time.ms = 100;
  const silent = connect();
  const greeted = connect();
  time.ms = 9_000;
  greeted.publisher.received(publishing("k")[0] as Uint8Array);
  time.ms = 10_100;
  for (const { publisher } of [silent, greeted]) publisher.checkTime();
  expect([silent.line.ends, greeted.line.ends]).toEqual([[], []]);
  time.ms = 10_101;
  for (const { publisher } of [silent, greeted]) publisher.checkTime();
  expect([silent.line.ends, greeted.line.ends]).toEqual([["terminate"], ["terminate"]]);
});

test("a publisher is closed after eight seconds of silence, counted from its last byte", async () => {
  const { time, connect } = openConnections();
  const { line, publisher, publish, send } = connect();
  expect(publisher.isUnauthenticated).toBe(true);
  await publish();
  expect({ isAdmitted: line.sent.includes(STARTED), video: publisher.video, world: publisher.world }).toEqual({
    isAdmitted: true,
    video: "7",
    world: "w",
  });
  expect(publisher.isUnauthenticated).toBe(false);
  time.ms = 7_000;
  send(VIDEO_CONFIG);
  time.ms = 15_000;
  publisher.checkTime();
  expect([publisher.silentMs, line.ends]).toEqual([8_000, []]);
  time.ms = 15_001;
  publisher.checkTime();
  expect(line.ends).toEqual(["terminate"]);
});

test("an ended connection has two seconds to read the reason, and anything it still sends is ignored", async () => {
  const { time, connect, happened } = openConnections(async () => undefined);
  const { line, publisher, publish } = connect();
  time.ms = 500;
  await publish("wrong");
  expect([line.sent.includes("Unknown stream key"), line.ends]).toEqual([true, ["shutdown"]]);
  publisher.end();
  publisher.received(Buffer.from("no RTMP"));
  time.ms = 2_500;
  publisher.checkTime();
  expect([line.ends, happened, publisher.isUnauthenticated]).toEqual([["shutdown"], [], true]);
  time.ms = 2_501;
  publisher.checkTime();
  expect(line.ends).toEqual(["shutdown", "terminate"]);
});

test("the end waits for unsent bytes", () => {
  const { connect } = openConnections();
  const { line, publisher } = connect(3);
  publisher.send(Buffer.from("abcdef"));
  publisher.end();
  line.capacity = 2;
  publisher.drained();
  expect([line.sent, line.ends]).toEqual(["abcde", []]);
  line.capacity = 2;
  publisher.drained();
  expect([line.sent, line.ends]).toEqual(["abcdef", ["shutdown"]]);
  // A connection that is still in use does not end when all waiting bytes have been sent.
  const other = connect(3);
  other.publisher.send(Buffer.from("abcdef"));
  other.line.capacity = 9;
  other.publisher.drained();
  expect([other.line.sent, other.line.ends]).toEqual(["abcdef", []]);
});

test("a key that cannot be checked is refused with that reason, and the error is logged", async () => {
  const { connect, happened } = openConnections(() => Promise.reject(new Error("no database")));
  const { line, publish } = connect();
  await publish();
  expect([line.sent.includes("The server cannot check the key now"), line.ends, happened]).toEqual([true, ["shutdown"], ["error no database {}"]]);
});

test("a response that arrives after the connection was ended admits nobody", async () => {
  const response = Promise.withResolvers<void>();
  const videos = ["7", "8", "9"];
  const { connect } = openConnections(async () => {
    const video = videos.shift() as string;
    await response.promise;
    return { feed: { ...FEED, video } };
  });
  const { line, publisher } = connect();
  for (const part of publishing("k")) publisher.received(part);
  await publisher.stop("The server is shutting down", "lost");
  response.resolve();
  // While one encoder waits for its admission, encoders that ask later are admitted.
  for (let later = 0; later < 2; later++) await connect().publish();
  expect([line.sent.includes(STARTED), line.ends, publisher.isUnauthenticated]).toEqual([false, ["shutdown"], true]);
});

test("another connection with the same key takes over after three seconds of silence, and one with a newer key at once", async () => {
  for (const [silentMs, key, takesOver] of [
    [2_999, "k", false],
    [3_000, "k", true],
    [0, "another", true],
  ] as const) {
    const { time, connect, happened } = openConnections();
    const first = connect();
    await first.begin();
    time.ms = silentMs;
    const second = connect();
    await second.publish(key);
    expect(second.line.sent.includes(STARTED)).toBe(takesOver);
    expect(second.line.sent.includes("Another encoder uses this key")).toBe(!takesOver);
    expect(first.line.ends).toEqual(takesOver ? ["terminate"] : []);
    expect(first.publisher.isUnauthenticated).toBe(takesOver);
    await first.publisher.closed();
    const refused = "refused w 7: another encoder sends with the same stream key: stop one of them, or make a new key";
    expect(happened).toEqual(takesOver ? ["lost 2"] : [refused, "lost 2"]);
    await second.publisher.closed();
  }
});

test("another video or world has nothing to take over", async () => {
  const feeds = [FEED, { ...FEED, video: "8" }, { ...FEED, world: "other" }];
  const { connect } = openConnections(async () => ({ feed: feeds.shift() as FeedName }));
  const all = [connect(), connect(), connect()];
  for (const { publish } of all) await publish();
  expect(all.map(({ line }) => `${line.sent.includes(STARTED)} ${line.ends}`)).toEqual(["true ", "true ", "true "]);
});

test("a feed is recorded from beginning to end, and has the server's number", async () => {
  const { recordings, connect } = openConnections();
  const { begin, publisher } = connect();
  expect(publisher.publishes(FEED)).toBe(false);
  await begin();
  expect([publisher.publishes(FEED), publisher.publishes({ ...FEED, session: 3 })]).toEqual([true, false]);
  await publisher.closed();
  expect(publisher.publishes(FEED)).toBe(false);
  expect(readFileSync(join(recordings, "w", "7", "2", "index"), "utf8").split("\n")[0]).toMatch(/^33 \d+ 1000$/);
});

test("media that cannot continue ends its feed with the reason for both; a malformed protocol ends the connection without a word", async () => {
  const { connect, happened } = openConnections();
  const { line, publisher, begin, send } = connect();
  await begin();
  send(Buffer.from([0x12, 1, 0, 0, 0, 9]));
  const reason = "the video is not H.264 but Sorenson H.263 (FLV1): choose H.264 (AVC) in the encoder";
  expect([line.sent.includes(reason.slice(0, 30)), line.ends, publisher.isUnauthenticated]).toEqual([true, ["shutdown"], true]);
  await publisher.closed();
  expect(happened).toEqual([`a feed was refused ${JSON.stringify({ world: "w", video: "7", reason })}`, `refused w 7: ${reason}`, "lost 2"]);
  const other = connect();
  other.publisher.received(Uint8Array.of(6));
  expect([other.line, happened.length]).toEqual([{ sent: "", ends: ["terminate"], capacity: 1_000_000 }, 3]);
});

test.each([
  ["MP3", Buffer.from([0x2f, 0xff]), "the audio is not AAC but MP3: choose AAC in the encoder"],
  ["HEVC", Buffer.from("9068766331", "hex"), "the video is not H.264 but HEVC (H.265): choose H.264 (AVC) in the encoder"],
  ["AV1", Buffer.from("9061763031", "hex"), "the video is not H.264 but AV1: choose H.264 (AVC) in the encoder"],
])("D-295: an encoder that sends %s before its feed has begun reads why it is refused, and so does the server", async (_, tag, reason) => {
  const { connect, happened } = openConnections();
  const { line, publisher, publish } = connect();
  await publish();
  publisher.received(media(tag[0] === 0x2f ? "audio" : "video", 0, tag));
  expect({ reads: readable(line.sent).includes(reason), ends: line.ends, told: happened.includes(`refused w 7: ${reason}`) }).toEqual({
    ...{ reads: true, ends: ["shutdown"], told: true },
  });
});

test("D-295: an encoder with a key that breaks the protocol, or goes silent without a picture, gets the reason, and so does the server", async () => {
  const { connect, happened, time } = openConnections();
  const broken = connect();
  await broken.publish();
  broken.publisher.received(Uint8Array.of(0xd3));
  expect({ reads: readable(broken.line.sent).includes("does not begin with a whole header"), ends: broken.line.ends }).toEqual({
    ...{ reads: true, ends: ["shutdown"] },
  });
  const silent = connect();
  await silent.publish();
  time.ms += 8_001;
  silent.publisher.checkTime();
  expect(happened.filter((one) => one.startsWith("refused"))).toEqual([
    "refused w 7: chunk stream 19 does not begin with a whole header",
    "refused w 7: the encoder sent no picture and then nothing for 8 s: check its video source",
  ]);
});

/** Returns the text of an RTMP message without the headers of its chunks. */
const readable = (sent: string): string => sent.replaceAll("\xc5", "");

test("a mistake of the program is logged with the feed, which is lost and its connection closed", async () => {
  const { connect, happened } = openConnections();
  const { line, publisher, begin, send } = connect();
  await begin();
  publisher.media = () => {
    throw new Error("a mistake");
  };
  send(KEY_PICTURE);
  await publisher.closed();
  expect([line.ends, happened]).toEqual([["terminate"], ['error a mistake {"world":"w","video":"7"}', "lost 2"]]);
});

test("a feed that the server ends gets the reason, and a connection that sent nothing yet is closed", async () => {
  const { connect, happened } = openConnections();
  const { line, publisher, begin } = connect();
  await begin();
  expect(publisher.health).toBeUndefined();
  publisher.checkTime();
  expect(publisher.health).toMatchObject({ video: "7", session: 2, width: 320 });
  await publisher.stop("The broadcast has ended");
  expect([line.sent.includes("NetStream.Publish.Failed"), line.sent.includes("The broadcast has ended"), line.ends]).toEqual([
    true,
    true,
    ["shutdown"],
  ]);
  // The server has ended the feed itself, so the port does not report the end.
  expect(happened).toEqual([]);
  const silent = connect();
  await silent.publisher.stop("The server is shutting down", "lost");
  expect([silent.line.sent, silent.line.ends]).toEqual(["", ["terminate"]]);
});

test("an encoder's end command ends its feed, and the encoder closes the connection; empty tags are not an end", async () => {
  const { connect, happened, time } = openConnections();
  const { publisher, begin, send, line } = connect();
  await begin();
  send(Buffer.from([0x57, 1, 0, 0, 0, 9]), Buffer.from([0xaf]), Buffer.from([0xaf, 2, 1]));
  expect([publisher.publishes(FEED), line.ends]).toEqual([true, []]);
  publisher.received(command(["FCUnpublish", 6, null, "k"]));
  expect(publisher.publishes(FEED)).toBe(false);
  time.ms += 10_000;
  publisher.checkTime();
  publisher.received(command(["deleteStream", 7, null, 1]));
  time.ms += 2_000;
  publisher.checkTime();
  expect(line.ends).toEqual([]);
  await publisher.closed();
  expect(happened).toEqual(["lost 2"]);
});

test("an encoder that ends its stream and does not close its connection has ten seconds for deleteStream, and two after that", async () => {
  for (const [words, waitMs] of [
    [["FCUnpublish"], 10_000],
    [["FCUnpublish", "deleteStream"], 2_000],
    [["closeStream"], 2_000],
  ] as const) {
    const { connect, time } = openConnections();
    const { publisher, begin, line } = connect();
    await begin();
    for (const word of words) publisher.received(command([word, 6, null, "k"]));
    time.ms += waitMs;
    publisher.checkTime();
    expect(line.ends).toEqual([]);
    time.ms += 1;
    publisher.checkTime();
    expect(line.ends).toEqual(["terminate"]);
  }
});

test("D-51: metadata that names the audio codec gives the audio two more seconds to arrive", async () => {
  for (const [metadata, isOver] of [
    [{ audiocodecid: 10 }, false],
    [{ width: 320 }, true],
  ] as const) {
    const { connect, time } = openConnections();
    const { publisher, publish, send, line } = connect();
    await publish();
    const body = writeAmf(["onMetaData", metadata]);
    publisher.received(Buffer.concat(chunked({ chunkStream: 4, type: 18, stream: 1, timestamp: 0, body })));
    send(VIDEO_CONFIG, KEY_PICTURE);
    await until(() => publisher.publishes(FEED));
    for (const timestamp of [1_000, 2_001]) {
      time.ms = timestamp;
      publisher.received(Buffer.concat(chunked({ chunkStream: 6, type: 9, stream: 1, timestamp, body: KEY_PICTURE })));
    }
    expect(line.sent.includes("The stream has no audio")).toBe(isOver);
    await publisher.closed();
  }
});
