/** The step `authenticate`: finds the tokens in the query, the body and the headers of a request, and checks them (D-10, D-12). */
import { GraphError, tokenInvalid, tokenMissing } from "#kernel/errors";
import { type Awaitable, chain } from "#kernel/turns";
import type { AppFacts } from "./app-facts.ts";
import { clientsScheme, type Place, placeNames, type Scheme, type SchemeName, schemes } from "./schemes.ts";
import type { Token } from "./token.ts";
import type { Tokens } from "./tokens.ts";

export interface Presented {
  readonly place: Place;
  readonly value: string;
  /** The error about the token; undefined if the value can be a token. */
  readonly problem?: GraphError;
}

/** A valid token with its app, and the parameter or header in which the request has the token. */
export interface Credential extends Presented {
  readonly token: Token;
  readonly app: AppFacts;
}

/**
 * A token that is not valid. A request with an invalid token is refused if the operation takes its token from the parameter or header that has it;
 * otherwise the token is ignored.
 */
export interface DeadCredential extends Presented {
  readonly error: GraphError;
}

export interface CheckedCredentials {
  readonly alive: readonly Credential[];
  readonly dead: readonly DeadCredential[];
}

interface Bringing {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  header(name: string): string | undefined;
}

export const schemeFor = (name: SchemeName, profile: "strict" | "clients"): Scheme =>
  profile === "clients" && name !== "client" ? clientsScheme : schemes[name];

export function presentedTokens(request: Bringing, places: readonly Place[], profile: "strict" | "clients"): readonly Presented[] {
  const presented: Presented[] = [];
  for (const place of places) {
    const given = tokenAt(request, place);
    if (given !== undefined) presented.push(given);
  }
  return profile === "clients" ? parametersFirst(presented) : presented;
}

/** D-12 [clients]: if a header and a parameter have different tokens, the token of the parameter counts. */
function parametersFirst(presented: readonly Presented[]): readonly Presented[] {
  const header = presented.find(({ place }) => place === "bearer");
  if (header === undefined || presented.every(({ value }) => value === header.value)) return presented;
  return presented.filter(({ place }) => place !== "bearer");
}

function tokenAt(request: Bringing, place: Place): Presented | undefined {
  switch (place) {
    case "access_token":
      return textOf(request.query.access_token, place);
    case "oauth_token":
      return textOf(request.query.oauth_token, place);
    case "body":
      return textOf(request.body.access_token, place);
    case "client":
      return clientOf({ ...request.query, ...request.body }) ?? clientOf(basicOf(request.header("authorization")));
    case "bearer":
      return bearerOf(request.header("authorization"));
  }
}

function textOf(value: unknown, place: Place): Presented | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return { place, value };
  return { place, value: "", problem: tokenInvalid(placeNames[place], "the token must be a string") };
}

/** D-382: a client's id and secret together act as a token of the app (D-11). */
function clientOf({ client_id: id, client_secret: secret }: Readonly<Record<string, unknown>>): Presented | undefined {
  return textOf(typeof id === "string" && typeof secret === "string" ? `${id}|${secret}` : undefined, "client");
}

/** RFC 6749, 2.3.1: OAuth libraries send id and secret as the name and password of HTTP Basic, each encoded as in a form. */
function basicOf(header: string | undefined): Readonly<Record<string, unknown>> {
  const encoded = /^basic +([A-Za-z0-9+/=]{1,2000})$/i.exec(header ?? "")?.[1];
  const [id = "", ...secret] = Buffer.from(encoded ?? "", "base64")
    .toString("utf8")
    .split(":");
  if (secret.length === 0) return {};
  const form = new URLSearchParams(`client_id=${id.replaceAll("&", "%26")}&client_secret=${secret.join(":").replaceAll("&", "%26")}`);
  return Object.fromEntries(form);
}

function bearerOf(header: string | undefined): Presented | undefined {
  if (header === undefined || header === "") return undefined;
  if (header.startsWith("Bearer ") && isOneWord(header, 7)) return { place: "bearer", value: header.slice(7) };
  const value = /^bearer +(\S+)$/i.exec(header)?.[1];
  if (value !== undefined) return { place: "bearer", value };
  return { place: "bearer", value: "", problem: tokenInvalid("Authorization", "the value is not a bearer token") };
}

/** Whether the text from `start` on is printable ASCII without spaces, as every token is. */
function isOneWord(text: string, start: number): boolean {
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 33 || unit > 126) return false;
  }
  return text.length > start;
}

/** Checks each distinct token of a request once. A token of a removed app is not valid. */
export function checkTokens(presented: readonly Presented[], tokens: Tokens, nowSeconds: number): Awaitable<CheckedCredentials> {
  return checkFrom(0, presented, tokens, nowSeconds, { alive: [], dead: [] });
}

interface Checked extends CheckedCredentials {
  readonly alive: Credential[];
  readonly dead: DeadCredential[];
}

/** Checks the tokens from the given one on, and adds them to those that were checked before. */
function checkFrom(start: number, presented: readonly Presented[], tokens: Tokens, nowSeconds: number, checked: Checked): Awaitable<Checked> {
  for (let at = start; at < presented.length; at++) {
    const one = presented[at] as Presented;
    const found = withValue(checked.alive, one.value) ?? checkToken(one, tokens, nowSeconds);
    if (found instanceof Promise) {
      return found.then((later) => {
        add(checked, one, later);
        return checkFrom(at + 1, presented, tokens, nowSeconds, checked);
      });
    }
    add(checked, one, found);
  }
  return checked;
}

/** A valid token with its app, or the error about an invalid token. */
type Found = Pick<Credential, "token" | "app"> | GraphError;

function add({ alive, dead }: Checked, { place, value }: Presented, found: Found): void {
  if (found instanceof GraphError) dead.push({ place, value, error: found });
  else alive.push({ place, value, token: found.token, app: found.app });
}

function checkToken({ place, value, problem }: Presented, tokens: Tokens, nowSeconds: number): Awaitable<Found> {
  if (problem !== undefined) return problem;
  return chain(tokens.find(value), (found) => {
    const token = tokens.alive(found, placeNames[place], nowSeconds);
    if (token instanceof GraphError) return token;
    return chain(tokens.findApp(token.app), (app) => (app === undefined ? ofDeletedApp(place) : { token, app }));
  });
}

const ofDeletedApp = (place: Place): GraphError => tokenInvalid(placeNames[place], "the app of the token was deleted");

function withValue(credentials: readonly Credential[], value: string): Credential | undefined {
  for (const credential of credentials) if (credential.value === value) return credential;
  return undefined;
}

/** The error about a required parameter or header that has no token. The result is undefined if no token is missing. */
export function missingCredential(presented: readonly Presented[], scheme: Scheme): GraphError | undefined {
  if (presented.length === 0) return scheme.places[0] === undefined ? undefined : tokenMissing(placeNames[scheme.places[0]]);
  if (scheme.need === "one") return undefined;
  for (const place of scheme.places) if (!isIn(place, presented)) return tokenMissing(placeNames[place]);
  return undefined;
}

function isIn(place: Place, presented: readonly Presented[]): boolean {
  for (const given of presented) if (given.place === place) return true;
  return false;
}
