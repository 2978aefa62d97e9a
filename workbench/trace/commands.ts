/** `plaza exec --trace` and `plaza trace` (docs/guides/trace.md). */
import { readFile, writeFile } from "node:fs/promises";
import { Connection } from "#testing/connection";
import { startControlProxy } from "./control-proxy.ts";
import { pageOf, traceIn } from "./page.ts";
import { Recorder } from "./recorder.ts";
import { traceText } from "./text.ts";

export interface Tracing {
  /** The address that the command uses for the control API. */
  readonly controlUrl: string;
  /** Writes the page. */
  finish(command: readonly string[], exitCode: number): Promise<void>;
}

/** Begins to record the first world of a server, and the worlds that are made through the returned address. */
export async function startTracing(file: string, control: Connection): Promise<Tracing> {
  // A file that cannot be written is an error before the command runs, not after it.
  await writeFile(file, "");
  // The record is made with a key that reads no secrets, so that none can be in it.
  const { key } = await control.send<{ key: string }>("POST", "control-keys", { name: "trace", access: "read" });
  const recorder = new Recorder(new Connection(control.url, key, control.fetch));
  await recorder.begin("default");
  const proxy = startControlProxy(control, recorder);
  return {
    controlUrl: proxy.url,
    async finish(command, exitCode) {
      const trace = await recorder.finish(shown(command), exitCode);
      proxy.close();
      await writeFile(file, pageOf(trace));
    },
  };
}

/** The first words of a command. All other words may be secrets, and so may words with a value. */
const shown = (command: readonly string[]): string =>
  command
    .filter((word) => !word.includes("="))
    .slice(0, WORDS_MAX)
    .join(" ");
const WORDS_MAX = 3;

/** Prints the trace of a page as text. */
export async function printTrace(file: string, options: Parameters<typeof traceText>[1]): Promise<string> {
  return traceText(traceIn(await readFile(file, "utf8")), options);
}
