/**
 * Makes requests from another request: the parts of a batch, the reads of `ids=`, and reads inside a response. The text of a derived request is read
 * like a request over HTTP, and all its other parts come from the request around it.
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

/** The headers of a request without If-None-Match, because its tag belongs to the whole response. */
export const withoutTag =
  (request: GraphRequest): GraphRequest["header"] =>
  (name) =>
    name === "if-none-match" ? undefined : request.header(name);

const credentialNames = ["access_token", "oauth_token", "appsecret_proof"] as const;

/** The tokens and proofs among the parameters. */
export function tokensOf(parameters: Parameters): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  for (const name of credentialNames) if (parameters[name] !== undefined) tokens[name] = parameters[name];
  return tokens;
}

/** The override of migrations (VER-7g), from the query or the body. */
export function overrideOf({ query, body }: GraphRequest): Record<string, unknown> {
  const { migrations_override = body.migrations_override } = query;
  return migrations_override === undefined ? {} : { migrations_override };
}
