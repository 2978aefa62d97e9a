/** `plaza exec --trace` and `plaza trace` (docs/guides/trace.md). */
import { readFile, writeFile } from "node:fs/promises";
import { Connection } from "#testing/connection";
import { startControlProxy } from "./control-proxy.ts";
import { pageOf, traceIn } from "./page.ts";
import { Recorder } from "./recorder.ts";
import { traceText } from "./text.ts";

export interface Tracing {
  /** The address at which the recorded command reaches the control API. */
  readonly controlUrl: string;
  /** Writes the page. */
  finish(command: readonly string[], exitCode: number): Promise<void>;
}

/** Begins to record the first world of a server, and the worlds that are made through the returned address. */
export async function startTracing(file: string, control: Connection): Promise<Tracing> {
  // A file that cannot be written is an error before the command runs, not after it.
  await writeFile(file, "");
  // The recorder uses a control key that reads no secrets, so that the record cannot contain secrets.
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

/**
 * Returns the first words of a command line. All other words are left out, because they may be secrets, like words with
 * a value (`--key=…`).
 */
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
