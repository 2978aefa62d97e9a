/** Starts the firehose in a process of its own, as an operator does. */
import { join } from "node:path";
import { afterThisTest } from "../cleanup.ts";
import { temporaryFolder } from "../server.ts";

const PROGRAM = join(import.meta.dir, "../../../clients/firehose/src/cli.ts");

interface Line {
  readonly level: string;
  readonly message: string;
}

export interface RunningFirehose {
  /** The lines of the firehose's log. */
  readonly log: Line[];
  /** The promise resolves with the first line of the log whose message contains the text. */
  said(text: string): Promise<Line>;
  kill(): Promise<void>;
  /** Sends SIGTERM. The promise resolves with the exit code of the firehose. */
  stop(): Promise<number>;
  readonly exited: Promise<number>;
}

export function startFirehose(options: readonly string[], environment: Record<string, string> = {}): RunningFirehose {
  const child = Bun.spawn([process.execPath, PROGRAM, ...options], {
    ...{ cwd: temporaryFolder(), stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    env: { ...process.env, ...environment },
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  afterThisTest(kill);
  const log: Line[] = [];
  let heard = Promise.withResolvers<void>();
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      log.push(...lines.map((line) => (line.startsWith("{") ? JSON.parse(line) : { level: "text", message: line })));
      heard.resolve();
      heard = Promise.withResolvers();
    }
  })();
  const exited = reading.then(() => child.exited);
  const said = async (text: string): Promise<Line> => {
    for (;;) {
      const found = log.find(({ message }) => message.includes(text));
      if (found !== undefined) return found;
      const end = await Promise.race([heard.promise.then(() => undefined), exited]);
      if (end !== undefined && !log.some(({ message }) => message.includes(text)))
        throw new Error(`the firehose ended with ${end} and did not say "${text}": ${JSON.stringify(log)}`);
    }
  };
  return {
    ...{ log, said, kill, exited },
    stop: () => {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

/** A message of a topic of the firehose. */
export interface Message {
  readonly kind: string;
  readonly id: string;
  readonly world: string;
  readonly epoch: string;
  readonly app: string;
  readonly event_name?: string;
  readonly body?: string;
  readonly [key: string]: unknown;
}

/** Reads the messages that a topic has now, each once, in the order in which a consumer sees the messages of each key. */
export async function readTopic(topic: string, brokers: string): Promise<Message[]> {
  const child = Bun.spawn([process.execPath, PROGRAM, "read", topic, "--brokers", brokers], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [text, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`the topic ${topic} cannot be read: ${errors}`);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
