/** Starts Plaza in a process of its own, as a user starts it. The test itself ends or kills the process. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterThisTest } from "./cleanup.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

interface Ready {
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  readonly control_url: string;
  readonly control_key: string;
  readonly rtmp_url: string | null;
  readonly pid: number;
}

export interface Server extends Ready {
  /** The milliseconds from the start of the process to its ready line. */
  readonly startedInMs: number;
  /** The lines that the server has logged so far. */
  readonly log: readonly string[];
  /** Sends SIGKILL. The promise resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM. The promise resolves with the exit code. */
  stop(): Promise<number>;
}

/** Makes a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plaza-test-"));
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a world file and returns its path. */
export function worldFile(world: object): string {
  const path = join(temporaryFolder(), "world.json");
  writeFileSync(path, JSON.stringify(world));
  return path;
}

/**
 * Starts a server. `options` are those of `bin/plaza start`; without options for them, ports are free ones and live ingest is off. `filesMax` is the
 * number of open files that the system allows the server.
 */
export async function startServer(options: readonly string[], environment: Record<string, string> = {}, filesMax?: number): Promise<Server> {
  const startMs = performance.now();
  const limited = filesMax === undefined ? [] : ["sh", "-c", `ulimit -n ${filesMax}; exec "$0" "$@"`];
  const child = Bun.spawn(
    [...limited, join(ROOT, "bin/plaza"), "start", "--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off", ...options],
    {
      cwd: temporaryFolder(),
      env: { ...process.env, ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const log: string[] = [];
  const logged = readLines(child.stderr, log);
  const line = await firstLine(child.stdout);
  if (line === undefined) {
    await logged;
    throw new Error(`plaza start ended with ${await child.exited}: ${log.join("\n")}`);
  }
  const end = (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    return child.exited;
  };
  return {
    ...(JSON.parse(line) as Ready),
    startedInMs: performance.now() - startMs,
    log,
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

/** The number of log lines to keep. Further lines of the log are read and dropped, because a server writes one for each request. */
const LOG_LINES_MAX = 100_000;

async function readLines(stream: ReadableStream<Uint8Array>, lines: string[]): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    if (lines.length < LOG_LINES_MAX) lines.push(...parts);
  }
  if (rest !== "") lines.push(rest);
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return undefined;
    text += decoder.decode(value, { stream: true });
    const end = text.indexOf("\n");
    if (end !== -1) {
      // The further output is read and dropped, so that the child never waits for a full pipe.
      void (async () => {
        while (!(await reader.read()).done);
      })();
      return text.slice(0, end);
    }
  }
}

/** Sends a token three times, as page messaging requires. */
export const threeTokens = (token: string): { query: string; headers: Record<string, string> } => ({
  query: `access_token=${token}&oauth_token=${token}`,
  headers: { authorization: `Bearer ${token}` },
});
