/** `plaza review -- <command>`: proves which permissions a suite needs (docs/guides/review.md). */
import { writeFile } from "node:fs/promises";
import type { Server } from "#testing/server";
import { endProcesses } from "../storm/scenario-process.ts";
import { reviewPage, reviewText } from "./report.ts";
import { type Review, ReviewUnusable, reviewSuite } from "./review.ts";

export interface ReviewCommand {
  readonly server: Server;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of the HTML file to write. */
  readonly html: string | undefined;
  readonly timeoutMs: number | undefined;
  say(text: string): void;
  note(text: string): void;
}

/** The default time limit for one run of the suite. A suite that takes longer needs the option `--timeout-ms`. */
const TIMEOUT_MS = 600_000;
const UNUSABLE = 2;

/** Runs the review. Resolves with the exit code: 0 if the needed permissions are proved, 2 if the suite cannot be used. */
export async function reviewCommand({ server, command, env, html, timeoutMs = TIMEOUT_MS, say, note }: ReviewCommand): Promise<number> {
  const [program = "", ...args] = command;
  const { connection } = server;
  // The file is created first, so that an unwritable path is an error before the suite runs.
  if (html !== undefined) await writeFile(html, "");
  const [first, { key: readKey }] = await Promise.all([
    connection.send<object>("GET", "worlds/default/export?secrets=true"),
    connection.send<{ key: string }>("POST", "control-keys", { name: "review", access: "read" }),
  ]);
  let review: Review;
  try {
    review = await reviewSuite({ ...{ server, readKey, first, program, args, env }, timeoutMs }, note);
  } catch (error) {
    if (!(error instanceof ReviewUnusable)) throw error;
    note(`plaza: ${error.message}`);
    return UNUSABLE;
  } finally {
    endProcesses();
  }
  if (html !== undefined) await writeFile(html, reviewPage(review, [program, ...args].join(" ")));
  say(reviewText(review));
  return 0;
}
