/** What a process remembers of a world beside its database, whether it is open or rests. */
import { Faults, type FaultTools } from "../fault-injection.ts";
import { type RateLimitConfig, RateLimits } from "../rate-limits.ts";
import { RequestLog } from "../request-log.ts";

export interface WorldMemory {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly rateLimits: RateLimits;
}

export const newWorldMemory = (tools: { readonly faults: FaultTools; readonly rateLimits: RateLimitConfig }): WorldMemory => ({
  requests: new RequestLog(),
  faults: new Faults(tools.faults),
  rateLimits: new RateLimits(tools.rateLimits),
});

export function clearMemory({ requests, faults, rateLimits }: WorldMemory): void {
  requests.clear();
  faults.clear();
  rateLimits.clear();
}
