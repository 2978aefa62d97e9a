/**
 * Makes requests from another request: the requests of a batch, the reads of `ids=`, and reads inside a response. The text of a derived request is
 * parsed like the text of a request over HTTP; everything else is copied from the outer request.
 */
import type { ParsedBody } from "../request-text/body.ts";
import { parsePairs } from "../request-text/pairs.ts";
import type { GraphRequest, Parameters } from "./request.ts";

interface DerivedRequest {
  readonly method: string;
  readonly path: string;
  readonly queryText: string;
  readonly body: Pick<ParsedBody, "parameters" | "defect">;
  readonly header: GraphRequest["header"];
}

export function derivedFrom(around: GraphRequest, { method, path, queryText, body, header }: DerivedRequest): GraphRequest {
  const query = parsePairs(queryText, "The query");
  return {
    ...around,
    ...{ method, path, queryText, query: query.parameters, body: body.parameters, header },
    defect: query.defect ?? body.defect,
    batchDepth: around.batchDepth + 1,
  };
}

/** The headers of a request without If-None-Match, because the ETag in If-None-Match belongs to the whole response. */
export const withoutTag =
  (request: GraphRequest): GraphRequest["header"] =>
  (name) =>
    name === "if-none-match" ? undefined : request.header(name);

const credentialNames = ["access_token", "oauth_token", "appsecret_proof"] as const;

/** The parameters that are tokens or proofs of tokens. */
export function tokensOf(parameters: Parameters): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  for (const name of credentialNames) if (parameters[name] !== undefined) tokens[name] = parameters[name];
  return tokens;
}

/** The parameter `migrations_override` (VER-7g), from the query or the body. */
export function overrideOf({ query, body }: GraphRequest): Record<string, unknown> {
  const { migrations_override = body.migrations_override } = query;
  return migrations_override === undefined ? {} : { migrations_override };
}
