/** Reads of several nodes in one request (D-34), for areas that also have steps of their own. */
import fc, { type Arbitrary } from "fast-check";
import { node, oneOf, strayNode } from "./drawing.ts";
import { audienceSteps, liveSteps } from "./live.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps, personaSteps } from "./page-messaging.ts";
import type { ManyStep, NodeName, RequestStep, Step } from "./steps.ts";

const reads: Arbitrary<RequestStep> = oneOf<Step>([4, labelSteps], [3, personaSteps], [2, liveSteps], [2, audienceSteps], [2, nodeSteps]).filter(
  (step): step is RequestStep =>
    step.kind === "request" && step.method === "GET" && step.surface === "base" && !("id" in step.node && step.node.id === "live_map"),
);

const others: Arbitrary<NodeName> = oneOf<NodeName>(
  [6, fc.constantFrom("label" as const, "persona" as const, "live_video" as const, "page" as const).chain(node)],
  [2, fc.constantFrom({ id: "2001" }, { id: "5302" }, { id: "me" })],
  [1, strayNode],
);

export const manySteps: Arbitrary<Step> = oneOf<Step>(
  [
    6,
    // All the nodes have the same type, so that the read often succeeds.
    reads.chain((step) => {
      const same: Arbitrary<NodeName> = "id" in step.node ? fc.constant(step.node) : node(step.node.type);
      return fc.record<ManyStep>({
        ...{ kind: fc.constant("many" as const), world: fc.constant(step.world), step: fc.constant(step) },
        nodes: fc.array(oneOf<NodeName>([12, same], [1, others]), { minLength: 1, maxLength: 4 }),
      });
    }),
  ],
  [2, labelSteps],
  [1, personaSteps],
  [1, audienceSteps],
);
