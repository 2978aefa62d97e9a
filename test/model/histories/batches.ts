/** Batches of requests that stand in other areas too (D-34). */
import fc, { type Arbitrary } from "fast-check";
import { oneOf, proof, world } from "./drawing.ts";
import { intentSteps } from "./messaging.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps, personaSteps } from "./page-messaging.ts";
import type { BatchPart, BatchStep, RequestStep, Step } from "./steps.ts";

const PARTS_MAX = 6;

/** Their responses have an `id`. */
const WITH_ID: ReadonlySet<string> = new Set(["createLabel", "createPersona", "readLabel", "readPersona", "setSolutionMigrationIntent"]);

/** A batch has forms for bodies, and one surface. */
const part: Arbitrary<RequestStep> = oneOf<Step>([4, labelSteps], [2, personaSteps], [1, intentSteps], [1, nodeSteps])
  .filter((step): step is RequestStep => step.kind === "request" && step.surface === "base" && step.operation !== "unsubscribeApp")
  .map(({ proof: _, ...step }) => ({ ...step, tokens: {}, ...(step.body === undefined ? {} : { body: { ...step.body, kind: "form" } }) }));

const drawnPart = fc.record({
  step: part,
  earlier: fc.nat({ max: PARTS_MAX }),
  refers: oneOf<"node" | "order" | "no">([3, fc.constant("no")], [2, fc.constant("node")], [1, fc.constant("order")]),
  isOmitted: fc.boolean(),
});

function partsOf(drawn: readonly (typeof drawnPart extends Arbitrary<infer Drawn> ? Drawn : never)[]): BatchPart[] {
  return drawn.map(({ step, earlier, refers, isOmitted }, place) => {
    const other = drawn[earlier];
    // What is made cannot be omitted here: only its response says which id it has.
    const isMade = step.method === "POST";
    const plain = { step, isOmitted: isOmitted && !isMade };
    if (refers === "no" || earlier >= place || other === undefined) return plain;
    if (refers === "order") return { ...plain, dependsOn: earlier };
    return WITH_ID.has(other.step.operation) ? { ...plain, nodeOf: earlier } : plain;
  });
}

export const batchSteps: Arbitrary<BatchStep> = fc
  .record({
    kind: fc.constant("batch" as const),
    world,
    version: oneOf<string | null>([3, fc.constant("v26.0")], [1, fc.constantFrom("v24.0", null)]),
    token: oneOf(
      [10, fc.constantFrom("cafe-page", "cafe-page", "cafe-page", "ada-user", "cafe-page-of-new-app", "bar-page")],
      [3, fc.constantFrom("cafe-page-of-proving-app", "proving-ada-user")],
      [1, fc.constantFrom("cafe-page-expired", "nonsense")],
    ),
    proof: oneOf<RequestStep["proof"]>([3, fc.constant(undefined)], [1, proof]),
    parts: fc.array(drawnPart, { minLength: 1, maxLength: PARTS_MAX }),
  })
  .map(({ proof: own, ...step }) => ({ ...step, parts: partsOf(step.parts), ...(own === undefined ? {} : { proof: own }) }));
