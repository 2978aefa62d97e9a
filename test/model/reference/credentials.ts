/** Tokens: where a request carries them, whether they are valid, and what is wrong with them (D-10 to D-14). */
import { createHmac } from "node:crypto";
import type { ErrorName } from "./errors.ts";
import type { Token } from "./nodes.ts";
import { type GraphRequest, inBody, inQuery, parameter } from "./requests.ts";
import type { World } from "./world.ts";

export type Place = "access_token" | "oauth_token" | "header" | "body";
/**
 * The places in which a request may carry a token. `three`: the token is in both query parameters, `access_token` and `oauth_token`, and in the
 * header. `any`: the token is in one of query, body and header, or the same token is in several of them.
 */
export type Scheme = "three" | "any" | "header" | "query" | "header or, in development, query";

export interface Credential {
  readonly place: Place;
  readonly value: string;
  readonly token: Token | undefined;
  readonly problem: ErrorName | undefined;
}

const PLACES: Readonly<Record<Scheme, readonly Place[]>> = {
  three: ["access_token", "oauth_token", "header"],
  any: ["access_token", "header", "body"],
  header: ["header"],
  query: ["access_token"],
  "header or, in development, query": ["header", "access_token"],
};

/** The places in which the request `me` looks for the caller's token, in this order (D-02). */
const ALL_PLACES: readonly Place[] = ["header", "access_token", "oauth_token", "body"];

/** Returns the places in which the schemes of authentication expect the tokens. D-12 [clients]: every operation accepts tokens in the query, the body and the header. */
export const placesOf = ({ profile }: World, schemes: readonly Scheme[]): ReadonlySet<Place> =>
  new Set(profile === "clients" || schemes.length === 0 ? ALL_PLACES : schemes.flatMap((scheme) => PLACES[scheme]));

/**
 * D-12: the tokens of a request that stand where the operation accepts tokens. In G1, the query counts only while the calling app, the app of the
 * first valid token, is in development.
 */
export function inPlaces(world: World, scheme: Scheme, all: readonly Credential[]): Credential[] {
  const places = placesOf(world, [scheme]);
  const inThem = all.filter(({ place }) => places.has(place));
  if (world.profile === "clients" || scheme !== "header or, in development, query") return inThem;
  const { token } = inThem.find(({ problem }) => problem === undefined) ?? {};
  const isInDevelopment = world.apps.get(token?.app ?? "")?.mode === "development";
  return inThem.filter(({ place }) => place === "header" || isInDevelopment);
}

/** The token that has this value. `{app_id}|{app_secret}` is a token of the app. */
export function findToken(world: World, value: string): Token | undefined {
  const [id = "", secret] = value.split("|");
  const app = world.apps.get(id);
  if (app !== undefined && secret === app.secret) {
    return { value, type: "app", app: id, scopes: [], issued_at: app.created_time, expires_at: 0, data_access_expires_at: 0, revoked: false };
  }
  return world.tokens.get(value);
}

/** D-15: the proof of a token in hexadecimal; upper and lower case are equal. */
export const proofOf = ({ apps }: World, { app, value }: Token): string =>
  createHmac("sha256", apps.get(app)?.secret ?? "")
    .update(value)
    .digest("hex");

/** D-15: whether a request lacks a valid proof. Tokens of people and pages need a proof if the app requires one, or if the request gives one. */
export function lacksProof(world: World, request: GraphRequest, tokens: readonly Token[]): boolean {
  const proof = parameter(request, "appsecret_proof");
  const isLacking = tokens.some((token) => {
    if (token.type === "app") return false;
    if (proof === undefined) return world.apps.get(token.app)?.require_appsecret_proof === true;
    return String(proof).toLowerCase() !== proofOf(world, token);
  });
  if (isLacking) world.reach(proof === undefined ? "proofRequired" : "proofWrong");
  else if (proof !== undefined) world.reach("proof");
  return isLacking;
}

export function problemOf(world: World, token: Token | undefined): ErrorName | undefined {
  if (token === undefined) return "tokenInvalid";
  if (token.revoked) return "tokenRevoked";
  return token.expires_at !== 0 && token.expires_at <= world.now ? "tokenExpired" : undefined;
}

export function credentialsOf(world: World, request: GraphRequest): Credential[] {
  const bodyToken = inBody(request, "access_token");
  const values: Readonly<Record<Place, string | undefined>> = {
    access_token: inQuery(request, "access_token"),
    oauth_token: inQuery(request, "oauth_token"),
    header: request.headers.authorization?.replace(/^bearer /i, ""),
    body: typeof bodyToken === "string" ? bodyToken : undefined,
  };
  const parameters = [values.access_token, values.oauth_token, values.body].filter((value) => value !== undefined);
  return ALL_PLACES.flatMap((place) => {
    const value = values[place];
    if (value === undefined) return [];
    // D-12 [clients]: if the tokens in the header and in the parameter differ, the parameter counts.
    if (world.profile === "clients" && place === "header" && parameters.some((other) => other !== value)) return [];
    const token = findToken(world, value);
    return [{ place, value, token, problem: problemOf(world, token) }];
  });
}

/** The problems of the tokens of a request for an operation of this scheme. The server may report any of these problems. */
export function problemsOfPlaces(world: World, scheme: Scheme, given: readonly Credential[]): ErrorName[] {
  const { reach } = world;
  if (new Set(given.flatMap(({ token, problem }) => (problem === undefined && token !== undefined ? [token.app] : []))).size > 1) reach("otherApp");
  const dead = given.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const apps = new Set(given.flatMap(({ token }) => (token === undefined ? [] : [token.app])));
  const otherApp: ErrorName[] = apps.size > 1 ? ["tokenOfOtherApp"] : [];
  const isDifferent = new Set(given.map(({ value }) => value)).size > 1;
  if (scheme === "three") {
    const missing: ErrorName[] = world.profile === "strict" && given.length < 3 ? ["tokenMissing"] : [];
    if (missing.length + dead.length > 0) reach("oneOfThree");
    return [...missing, ...dead, ...otherApp];
  }
  if (given.length === 0) {
    reach("place");
    return ["tokenMissing"];
  }
  if (isDifferent) reach("differentTokens");
  return isDifferent ? ["invalidParameter"] : dead;
}
