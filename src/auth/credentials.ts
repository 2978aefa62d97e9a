/** The step `authenticate`: which tokens a request brings, by place (D-10, D-12). */
import { GraphError, invalidParameter, tokenInvalid, tokenMissing } from "#kernel/errors";
import { clientsScheme, type Place, placeNames, type Scheme, type SchemeName, schemes } from "./schemes.ts";
import type { Token } from "./token.ts";
import type { Tokens } from "./tokens.ts";

export interface Presented {
  readonly place: Place;
  readonly value: string;
}

/** A checked credential. */
export interface Credential extends Presented {
  readonly token: Token;
}

interface Bringing {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  header(name: string): string | undefined;
}

export const schemeFor = (name: SchemeName, profile: "strict" | "clients"): Scheme => (profile === "clients" ? clientsScheme : schemes[name]);

export function presentedTokens(request: Bringing, scheme: Scheme): Presented[] {
  const presented: Presented[] = [];
  for (const place of scheme.places) {
    const value = tokenAt(request, place);
    if (value !== undefined) presented.push({ place, value });
  }
  // D-12: two places with different tokens are refused, but where all places are needed each is checked.
  if (scheme.need === "one" && presented.some(({ value }) => value !== presented[0]?.value)) {
    throw invalidParameter("access_token", "differs between two places of the request");
  }
  return presented;
}

function tokenAt(request: Bringing, place: Place): string | undefined {
  switch (place) {
    case "access_token":
      return textOf(request.query.access_token, place);
    case "oauth_token":
      return textOf(request.query.oauth_token, place);
    case "body":
      return textOf(request.body.access_token, place);
    case "bearer":
      return bearerOf(request.header("authorization"));
  }
}

function textOf(value: unknown, place: Place): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw tokenInvalid(placeNames[place], "it is malformed");
  return value;
}

function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined || header === "") return undefined;
  if (header.startsWith("Bearer ") && isOneWord(header, 7)) return header.slice(7);
  const match = /^bearer +(\S+)$/i.exec(header);
  if (match === null) throw tokenInvalid("Authorization", "it is not a bearer token");
  return match[1];
}

/** Without a blank from `start` to the end: printable ASCII, as every token is. */
function isOneWord(text: string, start: number): boolean {
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 33 || unit > 126) return false;
  }
  return text.length > start;
}

/** Checks each distinct token once. The first that is not alive is thrown. */
export async function checkTokens(presented: readonly Presented[], tokens: Tokens, nowSeconds: number): Promise<Credential[]> {
  const credentials: Credential[] = [];
  for (const { place, value } of presented) {
    const known = credentials.find((credential) => credential.value === value);
    const token = known?.token ?? tokens.alive(tokens.peek(value) ?? (await tokens.find(value)), placeNames[place], nowSeconds);
    if (token instanceof GraphError) throw token;
    credentials.push({ place, value, token });
  }
  return credentials;
}

/** The same for one token that stands in every place and is known, as most do: without a promise. Undefined where it is not so. */
export function checkKnownToken(presented: readonly Presented[], tokens: Tokens, nowSeconds: number): Credential[] | undefined {
  const first = presented[0];
  if (first === undefined) return [];
  const { value } = first;
  const found = tokens.peek(value);
  if (found === undefined || presented.some((other) => other.value !== value)) return undefined;
  const token = tokens.alive(found, placeNames[first.place], nowSeconds);
  if (token instanceof GraphError) throw token;
  return presented.map(({ place }) => ({ place, value, token }));
}

/** The place that is needed and empty, as an error; undefined when nothing is missing. */
export function missingCredential(presented: readonly Presented[], scheme: Scheme): GraphError | undefined {
  const missing =
    scheme.need === "all"
      ? scheme.places.find((place) => !presented.some((given) => given.place === place))
      : presented.length === 0
        ? scheme.places[0]
        : undefined;
  return missing === undefined ? undefined : tokenMissing(placeNames[missing]);
}
