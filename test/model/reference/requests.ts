/** A request as it goes over the wire, and the parameters in it. */
export type Surface = "base" | "app" | "microblog" | "ads" | "social_login";

export interface FeedRow {
  readonly retailer_id: string;
  /** Empty: the row is bad. */
  readonly name: string;
  readonly brand: string;
}

/** The meaning of a file in a multipart body; null: it is not a file of a feed. */
export interface FeedFile {
  readonly filename: string;
  readonly rows: readonly FeedRow[] | null;
}

export interface GraphRequest {
  readonly method: string;
  readonly surface: Surface;
  /** Below the surface's own path, as it is sent. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body?: {
    readonly kind: "json" | "form" | "multipart";
    readonly fields: Readonly<Record<string, unknown>>;
    readonly file?: FeedFile;
    /** Fields that are lists or objects are written as names with brackets. */
    readonly nesting?: "[]" | "[0]" | "repeated" | undefined;
    /** It is sent in gzip. */
    readonly isPacked?: boolean;
  };
  readonly headers: Readonly<Record<string, string>>;
}

const HEAD_BYTES_MAX = 16_384;
const BODY_BYTES_MAX = 1_048_576;

/** Tokens, and what proves them. */
export const CREDENTIAL_NAMES: ReadonlySet<string> = new Set(["access_token", "oauth_token", "appsecret_proof"]);

export const inQuery = ({ query }: GraphRequest, name: string): string | undefined => query.find(([key]) => key === name)?.[1];

/** D-34: null is a parameter that is left out. */
export function inBody({ body }: GraphRequest, name: string): unknown {
  const value = body !== undefined && Object.hasOwn(body.fields, name) ? body.fields[name] : undefined;
  return value === null ? undefined : value;
}

/** D-41: the body has precedence over the query. */
export const parameter = (request: GraphRequest, name: string): unknown => inBody(request, name) ?? inQuery(request, name);

/** D-34: a number is accepted for a text. Undefined if it is not a text. */
export function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : undefined;
}

/** Of a request whose head or body is larger than it may be, or holds text that is refused: what is said of it once its caller is known. */
export function defectOf({ query, headers, body }: GraphRequest): "headersTooLarge" | "bodyTooLarge" | "invalidParameter" | undefined {
  if (Object.values(headers).join().length > HEAD_BYTES_MAX) return "headersTooLarge";
  if (body?.kind === "json" && JSON.stringify(body.fields).length > BODY_BYTES_MAX) return "bodyTooLarge";
  return hasBadText(query.flat()) || hasBadText(body?.fields) ? "invalidParameter" : undefined;
}

/** D-21: U+0000 and lone surrogates are refused, wherever they stand. */
function hasBadText(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasBadText);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => hasBadText(key) || hasBadText(inner));
}

export const characters = (text: string): number => [...text].length;

/** D-161: JSON, a repeated name, `a[]=x`, or values with commas. Undefined if it is not there, null if it is not a list of texts. */
export function asList({ query, body }: GraphRequest, name: string): string[] | null | undefined {
  const ofName = query.filter(([key]) => key === name).map(([, value]): unknown => value);
  // D-160: what is given twice with one value has this value, unless it is written with brackets.
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

/** An object, as JSON or as the text of JSON. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  if (typeof value !== "string") return undefined;
  try {
    return asObject(JSON.parse(value));
  } catch {
    return undefined;
  }
}
