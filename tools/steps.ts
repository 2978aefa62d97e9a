/** Runs programs one after the other. The output of the programs is shown at once and kept for the caller. */
export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** The time limit of the program. A program that reaches the limit is killed, so that nobody waits for a program that hangs. */
  readonly withinMs?: number;
  /** Whether to keep the output of the program without showing it. */
  readonly isQuiet?: boolean;
  /** Called for each line that the program prints. The text of the line has no line end and no codes for colours. */
  readonly onLine?: (line: string) => void;
}

export interface StepEnd {
  readonly name: string;
  readonly exitCode: number;
  readonly output: string;
  readonly durationMs: number;
}

export const ROOT = new URL("..", import.meta.url).pathname;

/** The path of the running Bun, for steps that are Bun programs themselves. */
export const BUN = process.execPath;

/** The longest wait for the last lines of a program that has ended; these lines are already in the pipe. */
const STREAMS_END_MS = 2_000;

export async function runStep(step: Step): Promise<StepEnd> {
  const { withinMs, isQuiet = false, onLine } = step;
  if (!isQuiet) console.log(`\n── ${step.name}`);
  const startMs = performance.now();
  const child = Bun.spawn([...step.command], {
    cwd: ROOT,
    env: { ...process.env, ...step.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const watch = withinMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), withinMs);
  const parts: string[] = [];
  const copied = Promise.all([child.stdout, child.stderr].map((stream) => copy(stream, parts, isQuiet, onLine)));
  const exitCode = await child.exited;
  // Processes that the program left behind may hold its streams open for ever.
  await Promise.race([copied, Bun.sleep(STREAMS_END_MS)]);
  clearTimeout(watch);
  if (child.signalCode === "SIGKILL") console.log(`${step.name}: killed${withinMs === undefined ? "" : ` after ${seconds(withinMs)}`}`);
  return { name: step.name, exitCode, output: parts.join(""), durationMs: performance.now() - startMs };
}

/** Copies a stream of the program to stdout. Programs print on stdout and stderr; a reader wants all lines on one stream, in their order. */
async function copy(stream: ReadableStream<Uint8Array>, parts: string[], isQuiet: boolean, onLine?: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let begun = "";
  for await (const chunk of stream) {
    if (!isQuiet) process.stdout.write(chunk);
    const text = decoder.decode(chunk, { stream: true });
    parts.push(text);
    if (onLine === undefined) continue;
    const lines = (begun + text).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) onLine(Bun.stripANSI(line));
  }
}

export const seconds = (durationMs: number): string => `${(durationMs / 1000).toFixed(1)} s`;
