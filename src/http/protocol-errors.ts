/** What the interface says of a request that is refused as HTTP. */
import { bodyTooLarge, type GraphError, headersTooLarge, malformedRequest, overloaded, requestTooSlow } from "#kernel/errors";
import type { ProtocolProblem } from "./http1/problem.ts";
import type { HttpLimits } from "./limits.ts";

/** Bodies that arrive are complete, or given up, within seconds. */
const RETRY_AFTER_SECONDS = 1;

export function graphErrorOf(problem: ProtocolProblem, limits: HttpLimits): GraphError {
  switch (problem.kind) {
    case "malformed-head":
      return malformedRequest(`The request is not valid HTTP: ${problem.detail}`);
    case "head-too-large":
      return headersTooLarge(limits.headerBytesMax);
    case "head-too-slow":
    case "body-too-slow":
      return requestTooSlow(problem.msMax);
    case "malformed-chunks":
      return malformedRequest("The request body is not in valid chunks");
    case "body-too-large":
      return bodyTooLarge(problem.bytesMax);
    case "no-capacity":
      return overloaded(RETRY_AFTER_SECONDS);
  }
}
