/** The steps `see` and `authorize`: may the caller know of the node, and do this to it (D-10, D-12 to D-16, D-93). */
import type { AppFacts } from "#auth/app-facts";
import { type AuthorizationCheck, authorizationCheck, authorize, canSeeNode } from "#auth/authorize";
import { type Credential, missingCredential, type Presented, schemeFor } from "#auth/credentials";
import { placeNames, type Scheme } from "#auth/schemes";
import { isDataAccessOver, type NodeRef } from "#auth/token";
import { tokenOfApp } from "#auth/tokens";
import { invalidParameter, tokenExpired, tokenMissing } from "#kernel/errors";
import type { World } from "../worlds/world.ts";
import type { Caller } from "./request.ts";
import type { Incoming, Resolved, Versioned, Visible } from "./stages.ts";

/** Undefined: the caller may not know that the node exists. Returns no promise where the caches hold all that the policy asks. */
export function see({ world }: Incoming, resolved: Resolved): Visible | undefined | Promise<Visible | undefined> {
  const { endpoint, credentials, app } = resolved;
  if (app === undefined) return seeWithoutToken(world, resolved);
  const scheme = schemeFor(endpoint.access.scheme, world.profile);
  const placed = credentials.every(({ place }) => scheme.places.includes(place))
    ? credentials
    : credentials.filter(({ place }) => scheme.places.includes(place));
  // D-93: the step `authorize` refuses a request without a token that counts, if these tokens may know of the node.
  const used = placed.length === 0 ? credentials : placed;
  const { token } = used[0] as Credential;
  if (token.app === app.id) return seeAs(world, resolved, used, app);
  return world.tokens.findApp(token.app).then((own) => (own === undefined ? undefined : seeAs(world, resolved, used, own)));
}

/** D-13 [clients]: as the addressed app itself, where it lets such requests come without a token. */
async function seeWithoutToken(world: World, resolved: Resolved): Promise<Visible | undefined> {
  const { endpoint, node } = resolved;
  const { scheme, tokenless } = endpoint.access;
  if (world.profile === "clients" && tokenless !== undefined && node?.type === "app") {
    const app = await world.tokens.findApp(node.id);
    if (app !== undefined && tokenless(app)) return seeAs(world, resolved, [{ place: "bearer", value: "", token: tokenOfApp(app) }], app);
  }
  throw missingCredential([], schemeFor(scheme, world.profile)) ?? tokenMissing("access_token");
}

function seeAs(
  world: World,
  { address, method, dead, node, endpoint }: Resolved,
  credentials: readonly Credential[],
  app: AppFacts,
): Visible | undefined | Promise<Visible | undefined> {
  const { token } = credentials[0] as Credential;
  const subject: NodeRef = node ?? { id: app.id, type: "app", owner: app.id };
  const check = checkFor(world, credentials, app, subject);
  const visible: Visible = { address, method, credentials, dead, app, node, endpoint, caller: { token, app }, subject, check };
  if (node === undefined) return visible;
  const canSee = canSeeNode(endpoint.visibility, check);
  if (typeof canSee === "boolean") return canSee ? visible : undefined;
  return canSee.then((later) => (later ? visible : undefined));
}

function checkFor(world: World, credentials: readonly Credential[], app: AppFacts, subject: NodeRef): AuthorizationCheck[] {
  const { database, ports, facts, profile } = world;
  return authorizationCheck(credentials, app, subject, { reader: database.reader, ports, facts, profile });
}

/**
 * Returns the tokens that count, for the policies of fields too; no promise where the caches hold all that the policy asks. Throws, or
 * rejects with, what is missing (a place, a proof, a scope, a task), or the rate that is used up (D-22).
 */
export function authorizeCaller(incoming: Incoming, versioned: Versioned): readonly AuthorizationCheck[] | Promise<readonly AuthorizationCheck[]> {
  const { caller, subject } = versioned;
  const authorizing = authorizePart(incoming, versioned);
  if (authorizing instanceof Promise) return authorizing.then((check) => withinRates(incoming.world, caller, subject, check));
  return withinRates(incoming.world, caller, subject, authorizing);
}

/** The same for a read inside a response, which is part of a request that has been counted (D-38). */
export function authorizePart(
  { request, world, now }: Incoming,
  { method, endpoint: { access }, credentials, dead, caller, subject, check }: Versioned,
): readonly AuthorizationCheck[] | Promise<readonly AuthorizationCheck[]> {
  const used = countingCredentials(schemeFor(access.scheme, world.profile), access.scheme === "pageMessaging", { credentials, dead, caller });
  // What is read of an app, or of a token, is no data of a person.
  const over = method === "GET" && subject.type !== "app" ? used.find(({ token }) => isDataAccessOver(token, now)) : undefined;
  if (over !== undefined) throw tokenExpired(placeNames[over.place]);
  const proof = request.body.appsecret_proof ?? request.query.appsecret_proof;
  for (const { value, token } of used) world.tokens.checkProof(proof, value, token, caller.app);
  const counting = used === credentials ? check : checkFor(world, used, caller.app, subject);
  const kinds = access.kindsOn?.[request.surface];
  const authorizing = authorize(kinds === undefined ? access.policy : { ...access.policy, kinds }, counting);
  return authorizing === undefined ? counting : authorizing.then(() => counting);
}

function withinRates(world: World, { app }: Caller, { owner }: NodeRef, check: readonly AuthorizationCheck[]): readonly AuthorizationCheck[] {
  const refused = world.rateLimits.take(app.id, owner, world.clock.nowMs());
  if (refused !== undefined) throw refused;
  return check;
}

/**
 * Throws what is missing for the scheme, the conflict of two places (D-12), or what is wrong with a dead token where its place
 * counts; page messaging has each of its places checked.
 */
function countingCredentials(
  scheme: Scheme,
  isEachChecked: boolean,
  { credentials, dead, caller }: Pick<Versioned, "credentials" | "dead" | "caller">,
): readonly Credential[] {
  const isOpen = (place: Credential["place"]) => scheme.developmentOnly?.includes(place) !== true || caller.app.mode === "development";
  const counts = ({ place }: Presented) => scheme.places.includes(place) && isOpen(place);
  const used = credentials.every(counts) ? credentials : credentials.filter(counts);
  const refused = dead.length === 0 ? dead : dead.filter(counts);
  const given = refused.length === 0 ? used : [...used, ...refused];
  const missing = missingCredential(given, scheme);
  if (missing !== undefined) throw missing;
  if (!isEachChecked && given.some(({ value }) => value !== given[0]?.value)) {
    throw invalidParameter("access_token", "differs between two places of the request");
  }
  if (refused[0] !== undefined) throw refused[0].error;
  return used;
}
