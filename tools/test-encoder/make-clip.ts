/**
 * `node_modules/bun/bin/bun.exe tools/test-encoder/make-clip.ts`: makes the clip of the test encoder (`src/ingest/test-encoder/clip.flv`) with
 * ffmpeg. The clip shows a test pattern and alternates two tones, in H.264 with B-frames and AAC. The program ffmpeg makes the clip three times in a
 * row, and the second of the three is used, so that the sound has no gap when the clip is repeated. Pictures and sound have the same length, 120
 * pictures of 40 ms and 225 frames of 1024 samples at 48 kHz, so pictures and sound stay synchronous however often the clip is repeated.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIP_MS, readTags, type Tag } from "#ingest/test-encoder/clip";

const FRAMES_PER_SECOND = 25;
const TURN_PICTURES = 120;
const TURN_SOUNDS = 225;
/** The number of pictures between two key frames: 1.6 s, a third of the clip. */
const KEY_DISTANCE = 40;

const flv = join(import.meta.dir, "../../src/ingest/test-encoder/clip.flv");
/** The tones, 440 Hz and 660 Hz for 0.8 s each. In 0.8 s each tone has whole periods, so that no click is heard. */
const tones = "0.1*sin(2*PI*if(lt(mod(t\\,1.6)\\,0.8)\\,440\\,660)*t)";
const { exitCode, stderr, stdout } = Bun.spawnSync([
  ...["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin"],
  ...["-f", "lavfi", "-i", `testsrc2=size=640x360:rate=${FRAMES_PER_SECOND},trim=end_frame=${TURN_PICTURES},loop=loop=2:size=${TURN_PICTURES}`],
  ...["-f", "lavfi", "-i", `aevalsrc=${tones}:sample_rate=48000:duration=${(3 * CLIP_MS) / 1_000}`],
  ...["-c:v", "libx264", "-preset", "veryslow", "-pix_fmt", "yuv420p", "-b:v", "300k", "-maxrate", "450k", "-bufsize", "600k", "-bf", "2"],
  ...["-g", String(KEY_DISTANCE), "-keyint_min", String(KEY_DISTANCE), "-sc_threshold", "0", "-b_strategy", "0", "-threads", "1"],
  ...["-c:a", "aac", "-b:a", "48k", "-ac", "1", "-fflags", "+bitexact", "-flags", "+bitexact", "-f", "flv", "-flvflags", "no_duration_filesize", "-"],
]);
if (exitCode !== 0) throw new Error(stderr.toString());

const tags = readTags(stdout);
const firstPicture = tags.find(({ isAudio, isConfig }) => !isAudio && !isConfig) as Tag;
/**
 * The time at which the first picture of the file is shown. In the file, the sound that belongs to a picture comes later than the picture, by
 * exactly this time.
 */
const shown = (Buffer.from(firstPicture.body).readIntBE(2, 3) + firstPicture.ms) % CLIP_MS;
const pictures = tags.filter(({ isAudio, isConfig }) => !isAudio && !isConfig).slice(TURN_PICTURES, 2 * TURN_PICTURES);
const began = tags.filter(({ isAudio, isConfig, ms }) => isAudio && !isConfig && ms >= shown + CLIP_MS).slice(0, TURN_SOUNDS);
const turned = [
  ...pictures.map((tag, at) => ({ ...tag, ms: (at * 1_000) / FRAMES_PER_SECOND })),
  ...began.map((tag, at) => ({ ...tag, ms: Math.round(shown - firstPicture.ms + (at * CLIP_MS) / TURN_SOUNDS) % CLIP_MS })),
].sort((a, b) => a.ms - b.ms);
if (pictures.length !== TURN_PICTURES || began.length !== TURN_SOUNDS) throw new Error("ffmpeg made an unexpected number of frames");
const configs = tags.filter(({ isConfig }) => isConfig);
writeFileSync(flv, Buffer.concat([stdout.subarray(0, 13), ...[...configs.map((tag) => ({ ...tag, ms: 0 })), ...turned].map(bytesOf)]));
console.log(`${flv}: ${readFileSync(flv).length} bytes`);

/** Writes a tag as Annex E.4.1 of the FLV file format says. In the FLV format, the length of a tag follows the tag. */
function bytesOf({ isAudio, ms, body }: Tag): Buffer {
  const head = Buffer.alloc(11);
  head[0] = isAudio ? 8 : 9;
  head.writeUIntBE(body.length, 1, 3);
  head.writeUIntBE(ms, 4, 3);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length + body.length);
  return Buffer.concat([head, body, length]);
}
