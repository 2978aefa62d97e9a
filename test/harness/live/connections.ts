/**
 * Makes connections of the port for encoders without sockets. The test controls the clock of the connections, and the gate that admits stream keys.
 */
import type { Socket } from "bun";
import { media, publishing } from "#harness/live/rtmp";
import { temporaryFolder } from "#harness/server";
import type { Admission, FeedName } from "#ingest/channel";
import { Publisher, type PublisherOwner } from "#ingest/session/publisher";
import { RecordingSpace } from "#recordings/recording-space";

export const FEED: FeedName = { world: "w", video: "7", session: 2 };
/** Media as FLV tags: x264's configuration and a key picture, and AAC's configuration and a frame. */
const [VIDEO_CONFIG, KEY_PICTURE, AUDIO_CONFIG, SOUND] = [
  "17000000000142c00cffe100176742c00cda05067e7c0440000003004000000c83c50aa801000468ce0fc8",
  "170100000000000002" + "6588",
  "af001208",
  "af01211004608c1c",
].map((hex) => Buffer.from(hex, "hex")) as [Buffer, Buffer, Buffer, Buffer];

export { KEY_PICTURE, VIDEO_CONFIG };

/** Opens a port for encoders whose clock and gate the test controls. */
export function openConnections(check: (key: string) => Promise<Admission | undefined> = async () => ({ feed: FEED })) {
  const recordings = temporaryFolder();
  const happened: string[] = [];
  const time = { ms: 0 };
  const publishers: Publisher[] = [];
  const owner: PublisherOwner = {
    gate: {
      check,
      start: async () => ({ feed: FEED }),
      end: (feed, ending) => void happened.push(`${ending} ${feed.session}`),
      refused: ({ world, video }, reason) => void happened.push(`refused ${world} ${video}: ${reason}`),
    },
    recordings,
    space: new RecordingSpace(recordings, { bytesMax: 0, reserveBytes: 0 }),
    limits: { bitsPerSecondMax: 1_000_000 },
    monotonicMs: () => time.ms,
    realNowMs: () => 1_000,
    randomBytes: (count) => new Uint8Array(count),
    publisherOf: ({ video, world }) => publishers.find((one) => one.video === video && one.world === world),
    onError: (error, about) => void happened.push(`error ${(error as Error).message} ${JSON.stringify(about)}`),
    onNote: (about, note) => void happened.push(`${note} ${JSON.stringify(about)}`),
  };
  function connect(capacity = 1_000_000) {
    const line = { sent: "", ends: [] as string[], capacity };
    const socket = {
      write: (bytes: Uint8Array): number => {
        const taken = Buffer.from(bytes).toString("latin1", 0, line.capacity);
        line.sent += taken;
        line.capacity -= taken.length;
        return taken.length;
      },
      shutdown: () => void line.ends.push("shutdown"),
      terminate: () => void line.ends.push("terminate"),
    } as unknown as Socket<Publisher>;
    const publisher = new Publisher(socket, owner);
    publishers.push(publisher);
    const publish = async (key = "k"): Promise<void> => {
      for (const part of publishing(key)) publisher.received(part);
      await until(() => line.sent.includes("NetStream.Publish."));
    };
    const begin = async (): Promise<void> => {
      await publish();
      send(VIDEO_CONFIG, AUDIO_CONFIG, KEY_PICTURE, SOUND);
      await until(() => publisher.publishes(FEED));
    };
    const send = (...tags: readonly Buffer[]): void => {
      for (const tag of tags) publisher.received(media((tag[0] as number) === 0xaf ? "audio" : "video", 0, tag));
    };
    return { line, publisher, publish, begin, send };
  }
  return { recordings, happened, time, connect };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}
