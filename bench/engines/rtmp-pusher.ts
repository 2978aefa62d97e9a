/**
 * `rtmp-pusher.ts FILE.flv HOST:PORT KEY…`: sends the file to each stream key in real time, until the file ends. The program prints each key when the
 * key's stream begins. The RTMP chunks have 4096 bytes, like those of OBS.
 */
import { Pusher, readMessages } from "#harness/live/pusher";

const CHUNK_BYTES = 4096;
/** The interval at which pictures are sent. In each interval at most two pictures of a stream are due. */
const TURN_MS = 20;

const [file = "", address = "", ...keys] = process.argv.slice(2);
const [hostname = "", port = ""] = address.split(":");
const messages = readMessages(file, CHUNK_BYTES);
const encoders: Pusher[] = [];
setInterval(() => {
  for (const encoder of encoders) encoder.turn();
}, TURN_MS);
for (const key of keys) {
  const encoder = new Pusher(messages, CHUNK_BYTES);
  await encoder.connect(hostname, Number(port), key);
  process.stdout.write(`${key}\n`);
  encoders.push(encoder);
  // The streams begin one after the other, so that they do not all send their key frames at the same moment.
  await Bun.sleep(2000 / keys.length);
}
