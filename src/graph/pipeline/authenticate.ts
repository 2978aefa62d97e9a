/** The step `authenticate`: which tokens a request brings, in the places that its form lets count (D-10, D-12, D-90, D-93). */
import { checkTokens, missingCredential, type Presented, presentedTokens, schemeFor } from "#auth/credentials";
import { clientsScheme, type Place } from "#auth/schemes";
import { unixSeconds } from "#kernel/clock";
import { type GraphError, tokenMissing } from "#kernel/errors";
import type { World } from "../worlds/world.ts";
import type { GraphRequest, Parameters } from "./request.ts";
import type { Addressed, Authenticated, Incoming } from "./stages.ts";

/** Rejects where the request brings tokens and none of them is alive (D-14), or one of page messaging's is not (D-10). */
export async function authenticate(incoming: Incoming, { address, method }: Addressed): Promise<Authenticated> {
  const { world, now, registry } = incoming;
  const { alive: credentials, dead } = await checkTokens(presentedFor(incoming, { address, method }), world.tokens, now);
  const [first] = credentials;
  const isEachNeeded = registry.accessByShape(method, address.edge)?.scheme === "pageMessaging";
  if (dead[0] !== undefined && (first === undefined || isEachNeeded)) throw dead[0].error;
  return { address, method, credentials, dead, app: first?.app };
}

/**
 * The app whose live token a request shows before its body, where that is known at once: for the share that it counts against
 * (D-97), and for nothing else.
 */
export function knownApp(world: World, query: Parameters, header: GraphRequest["header"]): string | undefined {
  const presented = presentedTokens({ query, body: {}, header }, everyPlace, world.profile);
  const now = unixSeconds(world.clock);
  for (const { value } of presented) {
    const app = world.tokens.peekAppOf(value, now);
    if (app !== undefined) return app;
  }
  return undefined;
}

/** D-90: of a request without a token. Which place is named follows the form of the request. */
export function missingToken({ registry, world }: Incoming, { address, method }: Addressed): GraphError {
  const scheme = registry.accessByShape(method, address.edge)?.scheme;
  return (scheme === undefined ? undefined : missingCredential([], schemeFor(scheme, world.profile))) ?? tokenMissing("access_token");
}

/** D-90, D-93: in the places that the form of the request lets count. */
function presentedFor({ request, registry, world }: Incoming, { address, method }: Addressed): readonly Presented[] {
  const { profile } = world;
  return presentedTokens(request, profile === "clients" ? everyPlace : registry.placesByShape(method, address.edge), profile);
}

const everyPlace: readonly Place[] = clientsScheme.places;
