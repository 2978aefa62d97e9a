/**
 * The step `authenticate`: finds the tokens of a request. The method and the edge decide whether tokens in the query, the body or the header count
 * (D-10, D-12, D-90, D-93).
 */
import { type CheckedCredentials, checkTokens, missingCredential, type Presented, presentedTokens, schemeFor } from "#auth/credentials";
import { clientsScheme, type Place } from "#auth/schemes";
import { unixSeconds } from "#kernel/clock";
import { type GraphError, tokenMissing } from "#kernel/errors";
import type { Awaitable } from "#kernel/turns";
import type { World } from "../worlds/world.ts";
import type { Door, GraphRequest, Parameters } from "./request.ts";
import type { Addressed, Authenticated, Incoming } from "./stages.ts";

/** Finds the tokens of a request. */
export function findTokens(incoming: Incoming, addressed: Addressed): Awaitable<CheckedCredentials> {
  const { request, world, now } = incoming;
  const presented = presentedFor(incoming, addressed);
  return request.door === undefined ? checkTokens(presented, world.tokens, now) : checkAtDoor(request.door, presented, incoming);
}

async function checkAtDoor(door: Door, presented: readonly Presented[], { world, now }: Incoming): Promise<CheckedCredentials> {
  for (const { value } of presented) await door.showToken(value);
  return checkTokens(presented, world.tokens, now);
}

/** Throws if the request has tokens and none of them is valid (D-14), or if one of the three tokens of page messaging is invalid (D-10). */
export function authenticate(
  { registry }: Incoming,
  { address, method }: Addressed,
  { alive: credentials, dead }: CheckedCredentials,
): Authenticated {
  const [first] = credentials;
  const isEachNeeded = dead.length > 0 && registry.accessByShape(method, address.edge)?.scheme === "pageMessaging";
  if (dead[0] !== undefined && (first === undefined || isEachNeeded)) throw dead[0].error;
  return { address, method, credentials, dead, app: first?.app };
}

/**
 * The app of a valid token in the query or the headers of a request, if that token is in the cache. The server uses this app only to choose the quota
 * against which the request counts (D-97).
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

/** D-90: the error of a request without a token. The method and edge of the request decide whether the error names a parameter or the header. */
export function missingToken({ registry, world }: Incoming, { address, method }: Addressed): GraphError {
  const scheme = registry.accessByShape(method, address.edge)?.scheme;
  return (scheme === undefined ? undefined : missingCredential([], schemeFor(scheme, world.profile))) ?? tokenMissing("access_token");
}

/** D-90, D-93: the tokens of the request from the query, the body and the header, if they count for requests with this method and edge. */
function presentedFor({ request, registry, world }: Incoming, { address, method }: Addressed): readonly Presented[] {
  const { profile } = world;
  const isByClient = registry.accessByShape(method, address.edge)?.scheme === "client";
  const places = profile === "clients" && !isByClient ? everyPlace : registry.placesByShape(method, address.edge);
  return presentedTokens(request, places, profile);
}

const everyPlace: readonly Place[] = clientsScheme.places;
