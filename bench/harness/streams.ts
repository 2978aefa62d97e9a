/** Encoders for a bench: one process sends one prepared stream to many stream keys, in real time. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface StreamSource {
  readonly file: string;
  readonly seconds: number;
}

/**
 * Prepares a stream like that of OBS: 720p at 3 Mbit/s with B-frames, a key frame every 2 s, and AAC. The function runs ffmpeg, which
 * must be installed.
 */
export async function prepareSource(folder: string, seconds: number): Promise<StreamSource> {
  const file = join(folder, "source.flv");
  if (existsSync(file)) return { file, seconds };
  const rate = ["-b:v", "3000k", "-maxrate", "3000k", "-bufsize", "3000k"];
  const child = Bun.spawn(
    [
      ...["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin"],
      ...["-f", "lavfi", "-i", `testsrc2=size=1280x720:rate=30:duration=${seconds},noise=alls=20`],
      ...["-f", "lavfi", "-i", `sine=frequency=440:sample_rate=44100:duration=${seconds}`],
      ...["-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "keyint=60:min-keyint=60:scenecut=0:bframes=2", ...rate],
      ...["-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", file],
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  if ((await child.exited) !== 0) throw new Error(`ffmpeg: ${await new Response(child.stderr).text()}`);
  return { file, seconds };
}

export interface Pushing {
  /** Resolves when the server has admitted all keys, with the time (`performance.now`) at which it admitted each. */
  readonly admitted: Promise<ReadonlyMap<string, number>>;
  /** Ends the streams. */
  stop(): Promise<void>;
}

/** Starts an encoder's stream for each stream key. `onCore` is a command that binds the process to one core. */
export function pushStreams(source: StreamSource, address: string, keys: readonly string[], onCore: readonly string[]): Pushing {
  const program = join(import.meta.dir, "../engines/rtmp-pusher.ts");
  const child = Bun.spawn([...onCore, process.execPath, program, source.file, address, ...keys], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  return {
    admitted: readAdmitted(child.stdout, keys.length),
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function readAdmitted(output: ReadableStream<Uint8Array>, count: number): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  let text = "";
  for await (const part of output) {
    text += new TextDecoder().decode(part);
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const key of lines) times.set(key, performance.now());
    if (times.size === count) return times;
  }
  throw new Error(`${times.size} of ${count} streams were admitted`);
}
