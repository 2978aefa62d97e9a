/**
 * The error catalogue: the errors that any part of the server may throw, and the only functions that make them. Errors of a single feature are
 * defined in that feature's `x.errors.ts`. Spec: Errors; D-14, D-20, D-21. The file `graph/response/error-forms.ts` renders these errors in two
 * forms, flat and wrapped.
 */
import { redact } from "./redaction/redaction.ts";

export interface ErrorEntry {
  /** The HTTP status if the error is rendered in the wrapped form. */
  readonly status: number;
  /** The HTTP status in the flat form, if that status differs (D-14: page messaging returns 403, other surfaces return 401). */
  readonly flatStatus?: number;
  readonly code: number;
  /** The error code in the flat form, if that code differs (D-14: page messaging does not use 104). */
  readonly flatCode?: number;
  readonly subcode?: number;
  readonly type: "OAuthException" | "GraphMethodException";
  readonly isTransient?: true;
  /** The situation in which the error happens, for the docs page about errors. */
  readonly when: string;
  /** The change that makes the request succeed, as an instruction without a full stop. */
  readonly mend: string;
}

export const catalogue = {
  internalError: {
    status: 500,
    code: 1,
    type: "OAuthException",
    when: "an unexpected failure inside the server",
    mend: "this is a mistake of Plaza: its log has the details below the trace id",
  },
  databaseUnreachable: {
    status: 503,
    code: 2,
    type: "OAuthException",
    isTransient: true,
    when: "the database cannot be reached",
    mend: "send the request again in a second",
  },
  overloaded: {
    status: 503,
    code: 2,
    type: "OAuthException",
    isTransient: true,
    when: "the server is overloaded, or too many requests of the app wait for its callbacks; `Retry-After` says when to retry",
    mend: "send the request again after the seconds of Retry-After",
  },
  // D-22.
  appRateLimited: {
    status: 429,
    code: 4,
    type: "OAuthException",
    isTransient: true,
    when: "the app has used up its requests",
    mend: "send the request again after the seconds of Retry-After",
  },
  edgeRateLimited: {
    status: 429,
    code: 613,
    type: "OAuthException",
    isTransient: true,
    when: "the page or edge has used up its requests",
    mend: "send the request again after the seconds of Retry-After",
  },
  // D-13, D-91.
  permissionMissing: {
    status: 403,
    code: 10,
    type: "OAuthException",
    when: "the token lacks a scope that the operation needs",
    mend: "send a token with this scope",
  },
  taskMissing: {
    status: 403,
    code: 200,
    type: "OAuthException",
    when: "the person lacks a page task or role that the operation needs",
    mend: "send a token of a person with this task or role",
  },
  tokenMissing: {
    status: 401,
    flatStatus: 403,
    code: 104,
    flatCode: 190,
    type: "OAuthException",
    when: "a required access token is missing",
    mend: "send a token in this parameter or header",
  },
  tokenInvalid: {
    status: 401,
    flatStatus: 403,
    code: 190,
    type: "OAuthException",
    when: "the access token is malformed, unknown, or of a type that the operation does not accept",
    mend: "send another token",
  },
  tokenExpired: {
    status: 401,
    flatStatus: 403,
    code: 190,
    subcode: 463,
    type: "OAuthException",
    when: "the access token expired",
    mend: "send a new token",
  },
  tokenRevoked: {
    status: 401,
    flatStatus: 403,
    code: 190,
    subcode: 466,
    type: "OAuthException",
    when: "the access token was revoked",
    mend: "send a new token",
  },
  tokenOfOtherApp: {
    status: 401,
    flatStatus: 403,
    code: 190,
    subcode: 458,
    type: "OAuthException",
    when: "the access tokens of one request belong to different apps, or to another app than the object",
    mend: "send tokens of one app only, the app to which the object belongs",
  },
  invalidParameter: {
    status: 400,
    code: 100,
    type: "OAuthException",
    when: "a parameter is missing, unknown, of the wrong type or out of range; `error_data.parameter` names it",
    mend: "send another value",
  },
  // D-240.
  foreignPage: {
    status: 403,
    code: 200,
    type: "OAuthException",
    when: "a web page of another site sent the request to a sandbox, or used a host name that the sandbox does not serve",
    mend: "send the request from a program, or from a page of this machine",
  },
  // D-04, D-21.
  unsupportedRequest: {
    status: 400,
    code: 100,
    subcode: 33,
    type: "GraphMethodException",
    when: "the object does not exist, the caller may not see it, or it does not support the method",
    mend: "check the id and the edge",
  },
  // H7, D-21.
  unknownObject404: {
    status: 404,
    code: 803,
    type: "OAuthException",
    when: "the migration intent does not exist, or the caller may not see it",
    mend: "check the id",
  },
  fieldUnavailable: {
    status: 422,
    code: 100,
    type: "OAuthException",
    when: "the requested field is not available for this object",
    mend: "leave the field out",
  },
  // D-02, D-03.
  unknownPath: {
    status: 400,
    code: 2500,
    type: "OAuthException",
    when: "the path or its version is unknown",
    mend: "check the path, which has the form /{version}/{id}/{edge}",
  },
  // D-03, D-80, D-81.
  versionDeprecated: {
    status: 400,
    code: 2635,
    type: "OAuthException",
    when: "the marketing version is deprecated, missing, or older than the app may use",
    mend: "send the request with a newer version",
  },
  bodyTooLarge: { status: 413, code: 100, type: "OAuthException", when: "the request body is too large", mend: "send less in one request" },
  headersTooLarge: {
    status: 431,
    code: 100,
    type: "OAuthException",
    when: "the address or the headers of the request are too large",
    mend: "send long values in the body of a POST",
  },
  requestTooSlow: {
    status: 408,
    code: 100,
    type: "OAuthException",
    isTransient: true,
    when: "the request took too long to arrive",
    mend: "send the whole request at once",
  },
  // D-61.
  handshakeFailed: {
    status: 400,
    code: 2200,
    type: "OAuthException",
    when: "the callback URL could not be verified",
    mend: "start the program at this address, and let it answer the challenge",
  },
  challengeMismatch: {
    status: 400,
    code: 2201,
    type: "OAuthException",
    when: "the callback URL did not return the challenge of the verification",
    mend: "answer with the value of hub.challenge alone",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorName = keyof typeof catalogue;

export interface ErrorDefinition extends ErrorEntry {
  readonly name: string;
}

/** Defines an error of a single feature. The feature also lists its own error in its `errors` and in the contracts of its operations. */
export const defineError = (definition: ErrorDefinition): ErrorDefinition => definition;

/** An error in a contract: a name in the catalogue, or the definition of a feature's own error. */
export type DeclaredError = ErrorName | ErrorDefinition;

export const definitionOf = (error: DeclaredError): ErrorDefinition => (typeof error === "string" ? { name: error, ...catalogue[error] } : error);

export interface ErrorDetails {
  /** Facts about the error that a program can read, e.g. `{parameter: "limit"}`. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly userTitle?: string;
  readonly userMessage?: string;
  /** Headers that are added to the response, e.g. Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The requested field that does not exist, and the existing field that the caller may have meant. The two names of fields are not part of the
   * response.
   */
  readonly unknownField?: { readonly name: string; readonly meant: string | undefined };
}

/**
 * The greatest number of characters of an error's message, and of a text in its data. Error messages that do not repeat a part of the request are far
 * shorter than this limit.
 */
const TEXT_CHARACTERS_MAX = 2_000;

/**
 * Redacts and shortens a text in an error. An error may repeat a part of the request that is as long as the whole body, for example the name of a
 * parameter in a form.
 */
const excerpt = (text: string): string => (text.length > TEXT_CHARACTERS_MAX ? `${redact(text.slice(0, TEXT_CHARACTERS_MAX))}…` : redact(text));

export class GraphError extends Error {
  readonly errorName: string;
  readonly details: ErrorDetails;
  entry: ErrorEntry;
  constructor(error: DeclaredError, message: string, details: ErrorDetails = {}) {
    super(excerpt(message));
    this.details = details.data === undefined ? details : { ...details, data: shownData(details.data) };
    this.name = "GraphError";
    this.errorName = typeof error === "string" ? error : error.name;
    this.entry = typeof error === "string" ? catalogue[error] : error;
  }
}

const shownData = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, typeof value === "string" ? excerpt(value) : value]));

/** D-21: the error about a missing, unknown or wrong parameter. `parameter` is the parameter's name as the caller wrote it. */
export const invalidParameter = (parameter: string, problem: string, data: Record<string, unknown> = {}): GraphError =>
  new GraphError("invalidParameter", `(#100) Param ${parameter} ${problem}`, { data: { parameter, ...data } });

/** D-21: the error about a malformed request (wrong encoding, wrong JSON or too much nesting) for which no parameter can be named. */
export const malformedRequest = (problem: string): GraphError => new GraphError("invalidParameter", `(#100) ${problem}`);

/**
 * D-04, D-21: the error about an object that does not exist, that is hidden, or that does not support the method. The error is the same in all three
 * cases of this list.
 */
export const unsupportedRequest = (method: string, id: string): GraphError =>
  new GraphError(
    "unsupportedRequest",
    `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`,
  );

/** D-21: the error with which the operation H7 refuses an object that does not exist, is hidden, or does not support the method. */
export const unknownObject404 = (id: string): GraphError =>
  new GraphError(
    "unknownObject404",
    `(#803) Unsupported get request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`,
  );

export const fieldUnavailable = (field: string): GraphError =>
  new GraphError("fieldUnavailable", `(#100) Field ${field} is not available for this object`, {
    ...{ data: { parameter: "fields", field }, unknownField: { name: field, meant: undefined } },
  });

/** The error about a requested field that does not exist. `meant` is an existing field with a similar name. */
export const unknownField = (name: string, meant: string | undefined): GraphError =>
  new GraphError(
    "invalidParameter",
    `(#100) Param fields names a field that does not exist: ${name}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    { data: { parameter: "fields", field: name }, unknownField: { name, meant } },
  );

/**
 * D-02, D-03: the error about an unknown path. `path` is the unknown part of the path, e.g. `/v99.0`; `versions` are the versions that the caller may
 * have meant.
 */
export const unknownPath = (path: string, versions: readonly string[] = []): GraphError =>
  new GraphError("unknownPath", `Unknown path components: ${path}${versions.length === 0 ? "" : `; the versions are ${versions.join(", ")}`}`);

export const tokenMissing = (place: string): GraphError =>
  new GraphError("tokenMissing", `An access token is required to request this resource: ${place} is missing`, { data: { parameter: place } });

export const tokenInvalid = (place: string, problem: string): GraphError =>
  new GraphError("tokenInvalid", `Invalid OAuth access token in ${place}: ${problem}`, { data: { parameter: place } });

export const tokenExpired = (place: string): GraphError =>
  new GraphError("tokenExpired", `Error validating access token in ${place}: the session has expired`, { data: { parameter: place } });

export const tokenRevoked = (place: string): GraphError =>
  new GraphError("tokenRevoked", `Error validating access token in ${place}: the session was invalidated`, { data: { parameter: place } });

export const tokenOfOtherApp = (place: string): GraphError =>
  new GraphError("tokenOfOtherApp", `Error validating access token in ${place}: it belongs to another app`, { data: { parameter: place } });

export const permissionMissing = (permissions: readonly string[]): GraphError =>
  new GraphError("permissionMissing", `(#10) This request requires the permission ${permissions.join(" and ")}`, { data: { permissions } });

export const taskMissing = (what: string): GraphError => new GraphError("taskMissing", `(#200) This request requires ${what}`);

export const foreignPage = (problem: string): GraphError => new GraphError("foreignPage", `(#200) ${problem}`);

/** D-03, D-80, D-81: the error about a version that the endpoint no longer serves. */
export const versionDeprecated = (problem: string): GraphError => new GraphError("versionDeprecated", `(#2635) ${problem}`);

export const bodyTooLarge = (limitBytes: number): GraphError =>
  new GraphError("bodyTooLarge", `(#100) The request body is larger than ${limitBytes} bytes`);

export const headersTooLarge = (limitBytes: number): GraphError =>
  new GraphError("headersTooLarge", `(#100) The address and headers are larger than ${limitBytes} bytes`);

export const requestTooSlow = (limitMs: number): GraphError =>
  new GraphError("requestTooSlow", `(#100) The request did not arrive within ${limitMs} ms`);

export const appRateLimited = (retryAfterSeconds: number, headers: ErrorDetails["headers"] = {}): GraphError =>
  new GraphError("appRateLimited", "(#4) Application request limit reached", {
    headers: { "retry-after": String(retryAfterSeconds), ...headers },
  });

export const edgeRateLimited = (retryAfterSeconds: number, headers: ErrorDetails["headers"] = {}): GraphError =>
  new GraphError("edgeRateLimited", "(#613) Requests to this object have exceeded the rate limit", {
    headers: { "retry-after": String(retryAfterSeconds), ...headers },
  });

export const overloaded = (retryAfterSeconds: number): GraphError => retryLater(retryAfterSeconds, "The service is busy");

/**
 * D-97: makes the error for a request whose app has too many requests that wait for other servers. The server still serves the requests of other
 * apps.
 */
export const tooManyWaiting = (retryAfterSeconds: number): GraphError =>
  retryLater(retryAfterSeconds, "Too many requests of the app wait for other servers");

const retryLater = (seconds: number, problem: string): GraphError =>
  new GraphError("overloaded", `(#2) ${problem}; please retry`, { headers: { "retry-after": String(seconds) } });

/**
 * Makes the error about a database that cannot be reached. A restart or failover of the database takes seconds, so a client may try again every
 * second.
 */
export const databaseUnreachable = (): GraphError =>
  new GraphError("databaseUnreachable", "(#2) Service temporarily unavailable", { headers: { "retry-after": "1" } });

export const isUnreachable = (error: unknown): boolean => error instanceof GraphError && error.errorName === "databaseUnreachable";

export const internalError = (): GraphError => new GraphError("internalError", "An unknown error occurred");

export const handshakeFailed = (problem: string): GraphError => new GraphError("handshakeFailed", `(#2200) Callback verification failed: ${problem}`);

export const challengeMismatch = (expected: string, received: string): GraphError =>
  new GraphError("challengeMismatch", `(#2201) Callback verification failed: the response must be the challenge ${expected}, and is ${received}`);
