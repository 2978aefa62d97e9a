/** A real encoder: ffmpeg, which sends a test picture and a tone. */
import { afterThisTest } from "../cleanup.ts";
import { needs } from "../processes/needs.ts";

needs("ffmpeg");

export interface EncoderOptions {
  readonly seconds?: number;
  readonly size?: string;
  readonly framesPerSecond?: number;
  /** The number of seconds between key frames. */
  readonly keyFrameSeconds?: number;
  readonly bFrames?: number;
  readonly hasAudio?: boolean;
  /** The sample rate of the sound, in hertz. */
  readonly sampleRate?: number;
  /** The encoder sends as fast as possible, not in real time. */
  readonly isFast?: boolean;
  /** Further options of ffmpeg for RTMP, e.g. `-rtmp_buffer`. */
  readonly further?: readonly string[];
}

export interface Encoder {
  readonly pid: number;
  /** The promise resolves with the exit code, which is 0 if the encoder has sent everything. */
  readonly ended: Promise<number>;
  readonly messages: Promise<string>;
  /** Ends the encoder so that it can close its stream properly. */
  stop(): Promise<void>;
  /** Kills the encoder, as if its machine were switched off. */
  kill(): Promise<void>;
}

export function startEncoder(url: string, options: EncoderOptions = {}): Encoder {
  const {
    seconds = 60,
    size = "320x180",
    framesPerSecond = 25,
    keyFrameSeconds = 1,
    bFrames = 0,
    hasAudio = true,
    isFast = false,
    sampleRate = 44_100,
  } = options;
  const pace = isFast ? [] : ["-re"];
  const audio = hasAudio ? [...pace, "-f", "lavfi", "-i", `sine=frequency=440:sample_rate=${sampleRate}:duration=${seconds}`] : [];
  const audioCodec = hasAudio ? ["-c:a", "aac", "-b:a", "64k"] : ["-an"];
  const distance = String(Math.round(keyFrameSeconds * framesPerSecond));
  const child = Bun.spawn(
    [
      ...["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin"],
      ...[...pace, "-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${framesPerSecond}:duration=${seconds}`, ...audio],
      ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-b:v", "400k", "-threads", "1"],
      ...["-g", distance, "-keyint_min", distance, "-sc_threshold", "0", "-bf", String(bFrames), ...audioCodec],
      ...["-f", "flv", ...(options.further ?? []), url],
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const end = async (signal: "SIGINT" | "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await child.exited;
  };
  return {
    pid: child.pid,
    ended: child.exited,
    messages: new Response(child.stderr).text(),
    stop: () => end("SIGINT"),
    kill: () => end("SIGKILL"),
  };
}

export interface ProbedPacket {
  readonly codec_type: "video" | "audio";
  readonly pts_time: string;
  readonly dts_time: string;
  readonly flags: string;
}

/** The packets that ffprobe finds in a file, and its warnings about the file. */
export async function probe(path: string): Promise<{ packets: ProbedPacket[]; problems: string }> {
  const entries = "packet=codec_type,pts_time,dts_time,flags";
  const child = Bun.spawn(["ffprobe", "-v", "warning", "-show_entries", entries, "-of", "json", path], { stdout: "pipe", stderr: "pipe" });
  const [text, problems] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { packets: (JSON.parse(text) as { packets: ProbedPacket[] }).packets, problems };
}
