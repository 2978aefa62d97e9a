/** A request as it is sent, and functions that read its parameters. */
export type Surface = "base" | "app" | "microblog" | "ads" | "social_login";

export interface FeedRow {
  readonly retailer_id: string;
  /** The name of the item, without which the row is bad. */
  readonly name: string;
  readonly brand: string;
}

/** The contents of a file that is part of a multipart body. If the rows are null, the file is not a feed file. */
export interface FeedFile {
  readonly filename: string;
  readonly rows: readonly FeedRow[] | null;
}

export interface GraphRequest {
  readonly method: string;
  readonly surface: Surface;
  /** The path as it is sent, without the prefix of the API. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body?: {
    readonly kind: "json" | "form" | "multipart";
    readonly fields: Readonly<Record<string, unknown>>;
    readonly file?: FeedFile;
    /** How names with brackets express the lists and objects in the fields. */
    readonly nesting?: "[]" | "[0]" | "repeated" | undefined;
    /** Whether the request body is compressed with gzip. */
    readonly isPacked?: boolean;
  };
  readonly headers: Readonly<Record<string, string>>;
}

const HEAD_BYTES_MAX = 16_384;
const BODY_BYTES_MAX = 1_048_576;

/** The names of the parameters that carry tokens and their proofs. */
export const CREDENTIAL_NAMES: ReadonlySet<string> = new Set(["access_token", "oauth_token", "appsecret_proof"]);

export const inQuery = ({ query }: GraphRequest, name: string): string | undefined => query.find(([key]) => key === name)?.[1];

/** The value of a parameter in the request body. D-34: a parameter whose value is null counts as left out. */
export function inBody({ body }: GraphRequest, name: string): unknown {
  const value = body !== undefined && Object.hasOwn(body.fields, name) ? body.fields[name] : undefined;
  return value === null ? undefined : value;
}

/** The value of a parameter of the request. D-41: the body has precedence over the query. */
export const parameter = (request: GraphRequest, name: string): unknown => inBody(request, name) ?? inQuery(request, name);

/** The value of the parameter as a text; undefined if it is not a text. D-34: a number is accepted as a text. */
export function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : undefined;
}

/** The error of a request whose head or body is too large or has refused text. The server reports this error as soon as it knows the caller. */
export function defectOf({ query, headers, body }: GraphRequest): "headersTooLarge" | "bodyTooLarge" | "invalidParameter" | undefined {
  if (Object.values(headers).join().length > HEAD_BYTES_MAX) return "headersTooLarge";
  if (body?.kind === "json" && JSON.stringify(body.fields).length > BODY_BYTES_MAX) return "bodyTooLarge";
  return hasBadText(query.flat()) || hasBadText(body?.fields) ? "invalidParameter" : undefined;
}

/** D-21: whether a value contains U+0000 or lone surrogates, which are refused everywhere. */
function hasBadText(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasBadText);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => hasBadText(key) || hasBadText(inner));
}

export const characters = (text: string): number => [...text].length;

/**
 * D-161: a list may be given as JSON, as a repeated parameter, as `a[]=x`, or as values with commas between them. The list is undefined if the
 * parameter is missing, and null if it is not a list of texts.
 */
export function asList({ query, body }: GraphRequest, name: string): string[] | null | undefined {
  const ofName = query.filter(([key]) => key === name).map(([, value]): unknown => value);
  // D-160: a parameter that is repeated with the same value counts as given once, unless its name has brackets.
  const isOne = new Set(ofName).size === 1;
  const ofQuery = [...(isOne ? ofName.slice(0, 1) : ofName), ...query.filter(([key]) => key === `${name}[]`).map(([, value]): unknown => value)];
  const ofBody =
    body === undefined ? [] : [body.fields[name], body.fields[`${name}[]`]].flat().filter((value) => value !== undefined && value !== null);
  const all = ofBody.length > 0 ? ofBody : ofQuery;
  if (all.length === 0) return undefined;
  const texts = all.flatMap((value): (string | null)[] => {
    const text = asText(value);
    if (text === undefined) return [null];
    if (!text.startsWith("[")) return text.split(",");
    try {
      const items = JSON.parse(text) as unknown[];
      return items.map((item) => asText(item) ?? null);
    } catch {
      return [null];
    }
  });
  return texts.includes(null) ? null : (texts as string[]);
}

/** An object, given as JSON or as a text that contains JSON. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  if (typeof value !== "string") return undefined;
  try {
    return asObject(JSON.parse(value));
  } catch {
    return undefined;
  }
}
