/** Runs cases on a server, in groups of cases that can share a server. */
import { type Case, serverKey } from "./cases.ts";
import { type GivenServer, givenTarget, prepareGiven } from "./given.ts";
import type { Receiver } from "./http/receiver.ts";
import type { CaseResult } from "./report/results.ts";
import { runCase, type Target } from "./session.ts";

/** A function that gets each result as soon as its case has ended. */
export type Note = (result: CaseResult) => void;

/** Makes the result of a case for which the server could not be prepared. */
export const notReady = (testCase: Case, error: unknown): CaseResult => ({
  testCase,
  outcome: "failed",
  failure: {
    step: 0,
    sent: "",
    response: "",
    problems: [{ where: "the server", expected: "to be ready", got: error instanceof Error ? error.message : String(error) }],
  },
  durationMs: 0,
});

export async function resultOf(testCase: Case, target: Target, receiver: Receiver): Promise<CaseResult> {
  const start = performance.now();
  const failure = await runCase(testCase, target, receiver);
  const durationMs = performance.now() - start;
  return { testCase, durationMs, ...(failure === undefined ? { outcome: "passed" } : { outcome: "failed", failure }) };
}

/**
 * The world that a server without a control API must have loaded before the run, and the date of this world. Without a control API the suite
 * cannot add nodes to the server.
 */
const HELD_WORLD = "standard";

/** Returns the reason why a running server cannot run the case; undefined if the server can run the case. */
export function obstacle(testCase: Case, profile: string, { controlUrl, controlKey }: GivenServer): string | undefined {
  if (testCase.profile !== profile) return `needs profile ${testCase.profile}`;
  const options = Object.entries(testCase.options).map(([name, value]) => `--${name} ${value}`);
  if (options.length > 0) return `needs a server of its own, started with ${options.join(" ")}`;
  if (controlUrl !== undefined && controlKey !== undefined) return undefined;
  const needsControl = testCase.isAlone || testCase.steps.some((step) => step.kind === "request" && (step.on === "world" || step.on === "control"));
  if (needsControl) return "needs the control API";
  return testCase.world === HELD_WORLD ? undefined : `needs the control API, which puts the world ${testCase.world} in`;
}

export async function runOnGiven(server: GivenServer, profile: string, cases: readonly Case[], receiver: Receiver, note: Note): Promise<void> {
  const target = givenTarget(server);
  const loaded = new Set<string>();
  const skip = (testCase: Case, reason: string) => note({ testCase, outcome: "skipped", reason, durationMs: 0 });
  for (const group of Map.groupBy(cases, serverKey).values()) {
    const runnable = group.filter((testCase) => {
      const reason = obstacle(testCase, profile, server);
      if (reason !== undefined) skip(testCase, reason);
      return reason === undefined;
    });
    const [first] = runnable;
    if (first === undefined) continue;
    const prepared = await prepareGiven(target, first, receiver.address, loaded).catch((error: unknown) => {
      for (const testCase of runnable) note(notReady(testCase, error));
      return undefined;
    });
    if (prepared === undefined) continue;
    const { obstacle: reason } = prepared;
    for (const testCase of runnable) {
      if (reason === undefined) note(await resultOf(testCase, target, receiver));
      else skip(testCase, reason);
    }
    await prepared.after();
  }
}
