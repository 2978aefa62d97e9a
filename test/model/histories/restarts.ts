/** Steps in which a process ends or is killed while it has a write or reads a file. */
import fc, { type Arbitrary } from "fast-check";
import { manyRows } from "./catalogs.ts";
import { oneOf } from "./drawing.ts";
import { labelSteps, personaSteps } from "./page-messaging.ts";
import type { History, InterruptStep, RequestStep, RestartStep, Step } from "./steps.ts";

/** Writes whose whole effect the control API shows, so that the test can find out whether they were done. */
const write: Arbitrary<RequestStep> = oneOf<Step>([4, labelSteps], [1, personaSteps]).filter(
  (step): step is RequestStep => step.kind === "request" && step.method !== "GET" && step.operation !== "none",
);

/**
 * The time from the write to the end of the process, in milliseconds. A write takes a few milliseconds, so the process is ended at most a few
 * milliseconds later.
 */
const afterMs: Arbitrary<number | null> = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, null, null);

const how = oneOf<RestartStep["how"]>([3, fc.constant("kill")], [1, fc.constant("stop")]);

export const restarts: Arbitrary<readonly (RestartStep | InterruptStep)[]> = fc.array(
  oneOf<RestartStep | InterruptStep>(
    [3, fc.record({ how, request: write, afterMs }).map((drawn) => ({ kind: "restart", world: drawn.request.world, ...drawn }))],
    [
      1,
      fc.record({ how, upload: manyRows, afterMs: fc.nat({ max: 12 }) }).map((drawn) => ({ kind: "interrupt", world: drawn.upload.world, ...drawn })),
    ],
  ),
  { minLength: 3, maxLength: 5 },
);

/** Spreads the restarts over the history. Before the last restart, the first world moves to another server. */
export function withRestarts({ steps, ...rest }: History, drawn: readonly (RestartStep | InterruptStep)[]): History {
  const every = Math.ceil(steps.length / (drawn.length + 1));
  return {
    ...rest,
    steps: steps.flatMap((step, place): Step[] => {
      const restart = place > 0 && place % every === 0 ? drawn[place / every - 1] : undefined;
      if (restart === undefined) return [step];
      return restart === drawn.at(-1) ? [{ kind: "move", world: 0, into: "server" }, restart, step] : [restart, step];
    }),
  };
}

export const hasRestarts = ({ steps }: History): boolean => steps.some(({ kind }) => kind === "restart" || kind === "interrupt");
