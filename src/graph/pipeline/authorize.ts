/**
 * The steps `see` and `authorize`: they check whether the caller may know that the node exists, and whether the caller may run the operation (D-10,
 * D-12 to D-16, D-93).
 */
import { type AppFacts, uncachedFacts } from "#auth/app-facts";
import { type AuthorizationCheck, authorizationCheck, authorize, canSeeNode } from "#auth/authorize";
import { type Credential, missingCredential, type Presented, schemeFor } from "#auth/credentials";
import type { Policy } from "#auth/policy";
import { placeNames, type Scheme } from "#auth/schemes";
import { isDataAccessOver, type NodeRef } from "#auth/token";
import { tokenOfApp } from "#auth/tokens";
import { unixSeconds } from "#kernel/clock";
import { GraphError, invalidParameter, tokenExpired, tokenInvalid, tokenMissing } from "#kernel/errors";
import { type NodeId, nodeId } from "#kernel/ids";
import { type Awaitable, chain } from "#kernel/turns";
import type { Transaction } from "#storage/database";
import type { Access } from "../contract/operation.ts";
import { findNode } from "../worlds/nodes.store.ts";
import type { World } from "../worlds/world.ts";
import type { GraphRequest, SurfaceName } from "./request.ts";
import { notFound } from "./route.ts";
import type { Authenticated, Incoming, Resolved, Versioned, Visible } from "./stages.ts";

/**
 * The id of a node that never exists, used in place of a missing node's id. If the addressed node is missing, the policies run on this id, which no
 * node has.
 */
const NO_NODE = nodeId("9223372036854775807");

/**
 * D-336: a request for a node that the caller may not see runs the same SQL statements as a request for a missing node, because a difference in
 * response time would show that the node exists. A request for a hidden node and one for a missing node both read the node, and both run every policy
 * of `readingPolicies`. `cached`: whether the node came from the cache.
 */
export async function conceal(
  { world, registry }: Incoming,
  { credentials }: Authenticated,
  id: NodeId,
  cached: boolean,
  checked?: Policy,
): Promise<void> {
  const { token, app } = credentials[0] as Credential;
  if (cached) await findNode(world.database.reader, id);
  const check = checkFor(world, credentials, app, { id, type: token.type, owner: NO_NODE });
  for (const policy of registry.readingPolicies) if (policy !== checked) await canSeeNode(policy, check);
}

/** The step `see`. Returns undefined if the caller may not know that the node exists. */
export function see({ world }: Incoming, resolved: Resolved): Awaitable<Visible | undefined> {
  return resolved.credentials.length === 0 ? seeWithoutToken(world, resolved) : seeAs(world, resolved, placedCredentials(world, resolved));
}

function seeAs(world: World, resolved: Resolved, credentials: readonly Credential[]): Awaitable<Visible | undefined> {
  const { endpoint, node } = resolved;
  const { token, app } = credentials[0] as Credential;
  const subject: NodeRef = node ?? { id: app.id, type: "app", owner: app.id };
  const check = checkFor(world, credentials, app, subject);
  const visible: Visible = { ...resolved, credentials, app, caller: { token, app }, subject, check };
  return chain(node === undefined || canSeeNode(endpoint.visibility, check), (isSeen) => (isSeen ? visible : undefined));
}

/**
 * D-93: if no token of the request is where the operation expects one (query, body or header), `authorize` refuses the request later. Until the
 * missing token is reported, all tokens of the request decide whether the node is visible.
 */
function placedCredentials(world: World, { endpoint, credentials }: Resolved): readonly Credential[] {
  const scheme = schemeFor(endpoint.access.scheme, world.profile);
  const isPlaced = ({ place }: Credential) => scheme.places.includes(place);
  if (credentials.every(isPlaced)) return credentials;
  const placed = credentials.filter(isPlaced);
  return placed.length === 0 ? credentials : placed;
}

/** D-13 [clients]: an app may allow requests without a token for some operations. A request without a token counts as a request of the app itself. */
async function seeWithoutToken(world: World, resolved: Resolved): Promise<Visible | undefined> {
  const { endpoint, node } = resolved;
  const { scheme, tokenless } = endpoint.access;
  if (world.profile === "clients" && tokenless !== undefined && node?.type === "app") {
    const app = await world.tokens.findApp(node.id);
    if (app !== undefined && tokenless(app)) return seeAs(world, resolved, [{ place: "bearer", value: "", token: tokenOfApp(app), app }]);
  }
  throw missingCredential([], schemeFor(scheme, world.profile)) ?? tokenMissing("access_token");
}

function checkFor(world: World, credentials: readonly Credential[], app: AppFacts, subject: NodeRef): AuthorizationCheck[] {
  const { database, ports, facts, profile } = world;
  return authorizationCheck(credentials, app, subject, { reader: database.reader, ports, facts, profile });
}

/** Returns the checks of the tokens that count; the tokens also decide which fields are shown. Throws if a required token or its proof is missing. */
export function countingChecks(
  { request, world, now }: Incoming,
  { method, endpoint: { access }, credentials, dead, caller, subject, check }: Versioned,
): readonly AuthorizationCheck[] {
  const { app } = caller;
  const used = countingCredentials(schemeFor(access.scheme, world.profile), access.scheme === "pageMessaging", { credentials, dead, caller });
  // A read of an app, or of a token (`/debug_token`), shows no personal data.
  if (method === "GET" && subject.type !== "app") {
    for (const { token, place } of used) if (isDataAccessOver(token, now)) throw tokenExpired(placeNames[place]);
  }
  checkProofs(request, world, used, app);
  return used === credentials ? check : checkFor(world, used, app, subject);
}

/** The step `authorize`. Throws or rejects if the token lacks a scope, or the person lacks a task. */
export function authorizeCaller({ request }: Incoming, { endpoint }: Versioned, check: readonly AuthorizationCheck[]): Awaitable<void> {
  return authorize(policyOn(endpoint.access, request.surface), check);
}

/**
 * Counts the request. Throws if a rate limit is exceeded (D-22). A read inside a response does not count against the rate limit, because the request
 * around it has been counted (D-38).
 */
export function countRequest({ world, isInside }: Incoming, { caller, subject }: Versioned): void {
  const refused = isInside === true ? undefined : world.rateLimits.take(caller.app.id, subject.owner, world.clock.nowMs());
  if (refused !== undefined) throw refused;
}

/** D-15: checks the proof of each token. */
function checkProofs({ query, body }: GraphRequest, { tokens }: World, credentials: readonly Credential[], app: AppFacts): void {
  const proof = body.appsecret_proof ?? query.appsecret_proof;
  for (const { value, token } of credentials) tokens.checkProof(proof, value, token, app);
}

function policyOn({ policy, kindsOn }: Access, surface: SurfaceName): Policy {
  const kinds = kindsOn?.[surface];
  return kinds === undefined ? policy : { ...policy, kinds };
}

/**
 * Returns a function that runs `see` and `authorize` again, in the transaction of a write that waited for another server: if the caller has lost a
 * right meanwhile, the write is refused (D-300). The second check reads the stored rows and not the caches.
 */
export function authorizingAgain(incoming: Incoming, versioned: Versioned, check: readonly AuthorizationCheck[]): (tx: Transaction) => Promise<void> {
  return (tx) => authorizeAgain(incoming, versioned, check, tx);
}

async function authorizeAgain(incoming: Incoming, versioned: Versioned, check: readonly AuthorizationCheck[], tx: Transaction): Promise<void> {
  const { request, world } = incoming;
  const { endpoint, caller, subject } = versioned;
  const now = unixSeconds(world.clock);
  const app = await world.ports.get("app").findFacts(tx, caller.app.id);
  if (app === undefined) throw tokenInvalid(placeNames[check[0]?.credential.place ?? "bearer"], "the app of the token was deleted");
  const credentials: Credential[] = [];
  for (const { credential } of check) {
    const token = world.tokens.alive(await world.tokens.findStored(tx, credential.value), placeNames[credential.place], now);
    if (token instanceof GraphError) throw token;
    credentials.push({ ...credential, token });
  }
  checkProofs(request, world, credentials, app);
  const { ports, profile } = world;
  const again = authorizationCheck(credentials, app, subject, { reader: tx, ports, facts: uncachedFacts, profile });
  if (!(await canSeeNode(endpoint.visibility, again))) throw notFound(incoming, versioned);
  await authorize(policyOn(endpoint.access, request.surface), again);
}

/**
 * Returns the tokens that count. Throws if a required token is missing, if the query, the body and the header have different tokens (D-12), or if one
 * of those that count is invalid. In page messaging each of the three tokens is checked by itself.
 */
function countingCredentials(
  scheme: Scheme,
  isEachChecked: boolean,
  { credentials, dead, caller }: Pick<Versioned, "credentials" | "dead" | "caller">,
): readonly Credential[] {
  const isDevelopment = caller.app.mode === "development";
  const counts = ({ place }: Presented) => scheme.places.includes(place) && (isDevelopment || scheme.developmentOnly?.includes(place) !== true);
  const used = credentials.every(counts) ? credentials : credentials.filter(counts);
  const refused = dead.length === 0 ? dead : dead.filter(counts);
  const given = refused.length === 0 ? used : [...used, ...refused];
  const missing = missingCredential(given, scheme);
  if (missing !== undefined) throw missing;
  if (!isEachChecked && given.length > 1 && given.some(({ value }) => value !== given[0]?.value)) {
    throw invalidParameter("access_token", "has different values in the query, the body or the Authorization header");
  }
  if (refused[0] !== undefined) throw refused[0].error;
  return used;
}
