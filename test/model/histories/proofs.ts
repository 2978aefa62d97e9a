/** Draws steps of other areas for callers who prove that they have the secret of their app (D-15). */
import fc, { type Arbitrary } from "fast-check";
import { catalogSteps } from "./catalogs.ts";
import { oneOf, proof } from "./drawing.ts";
import { liveSteps } from "./live.ts";
import { nodeSteps } from "./nodes.ts";
import { labelSteps } from "./page-messaging.ts";
import type { RequestStep, Step } from "./steps.ts";

/** The tokens of an app that requires a proof of its secret, and of an app that does not require one. */
const proving = fc.constantFrom("cafe-page-of-proving-app", "cafe-page-of-proving-app", "proving-ada-user", "cafe-page", "shop-app");

const request: Arbitrary<RequestStep> = oneOf<Step>([3, labelSteps], [2, catalogSteps], [2, liveSteps], [1, nodeSteps]).filter(
  (step): step is RequestStep => step.kind === "request",
);

export const proofSteps: Arbitrary<Step> = fc
  .record({ step: request, token: proving, ownProof: oneOf<RequestStep["proof"]>([6, proof], [1, fc.constant(undefined)]) })
  .map(({ step: { proof: _, ...step }, token, ownProof }) => ({
    ...step,
    tokens: Object.fromEntries(Object.keys(step.tokens).map((place) => [place, token])),
    ...(ownProof === undefined ? {} : { proof: ownProof }),
  }));
