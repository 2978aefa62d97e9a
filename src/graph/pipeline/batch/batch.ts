/** D-34: runs a batch of up to 50 requests, whose requests may have names, `depends_on`, and JSONPath references to earlier responses. */
import { GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import { findHeader } from "#kernel/http-text/headers";
import { nextPartsTurn } from "#kernel/turns";
import { parseVersion } from "#kernel/versions";
import { parseBodyText } from "../../request-text/body.ts";
import { withPairs } from "../../request-text/pairs.ts";
import { readMigrationsOverride } from "../../versions/migration-windows.ts";
import { segmentsOf } from "../address.ts";
import { derivedFrom, overrideOf, tokensOf, withoutTag } from "../derived.ts";
import { isNo } from "../parameters.ts";
import type { GraphRequest, GraphResponse, HandleRequest, UploadedFile } from "../request.ts";
import { formByShape, readAddress } from "../route.ts";
import type { Incoming } from "../stages.ts";
import { type BatchRequest, readBatch } from "./read-batch.ts";
import { bodyNotation, References } from "./references.ts";

/**
 * D-39: the greatest number of characters of all responses of a batch together, or of all responses to `ids=`: 50 lists of 100 nodes with 1,600
 * characters each.
 */
export const RESPONSE_CHARACTERS_MAX = 8_388_608;

interface BatchResponse {
  readonly code: number;
  readonly headers?: readonly { name: string; value: string }[];
  readonly body: string;
}

/**
 * Runs the requests of a batch one after the other. The list of responses has null for a successful request whose result only other requests needed,
 * and for one that depends on a failed request. `refuse` makes the response with the error of a request that could not be run.
 */
export async function runBatch(
  handleRequest: HandleRequest,
  incoming: Pick<Incoming, "request" | "world" | "registry" | "now">,
  given: unknown,
  refuse: (error: GraphError, part: BatchRequest) => GraphResponse,
): Promise<(BatchResponse | null)[]> {
  const { request, world, now } = incoming;
  const parts = readBatch(given, request.files);
  readMigrationsOverride(overrideOf(request).migrations_override, world.calendar.migrations, now);
  const hasHeaders = !isNo(request.body.include_headers ?? request.query.include_headers);
  const referred = new Set(parts.flatMap(({ needs }) => needs));
  const results = new Map<string, GraphResponse>();
  const references = new References(results);
  const responses: (BatchResponse | null)[] = [];
  let characters = 0;
  for (const part of parts) {
    // A batch takes as long as all its requests together, so the server serves other requests between two of them.
    await nextPartsTurn();
    const isBlocked = part.needs.some((name) => results.get(name)?.status !== 200);
    const response = isBlocked ? undefined : await run(part);
    characters += response?.body.length ?? 0;
    if (response !== undefined && part.name !== undefined) results.set(part.name, response);
    const isOmitted = response?.status === 200 && (part.omitOnSuccess ?? (part.name !== undefined && referred.has(part.name)));
    responses.push(response === undefined || isOmitted ? null : responseOf(response, hasHeaders));
  }
  return responses;

  async function run(part: BatchRequest): Promise<GraphResponse> {
    try {
      if (characters > RESPONSE_CHARACTERS_MAX) {
        throw invalidParameter(
          "batch",
          `has responses of more than ${RESPONSE_CHARACTERS_MAX} characters before this request, so this request did not run`,
        );
      }
      const response = await handleRequest(requestFor(part, incoming, references));
      return part.method === "HEAD" ? { ...response, body: "" } : response;
    } catch (error) {
      if (error instanceof GraphError) return refuse(error, part);
      throw error;
    }
  }
}

function responseOf({ status, headers, body }: GraphResponse, hasHeaders: boolean): BatchResponse {
  if (!hasHeaders) return { code: status, body };
  return { code: status, headers: Object.entries(headers).map(([name, value]) => ({ name, value })), body };
}

/** Turns one item of the batch's JSON list into a request. */
function requestFor(part: BatchRequest, incoming: Pick<Incoming, "request" | "world" | "registry">, references: References): GraphRequest {
  const batch = incoming.request;
  const { method, headers } = part;
  // UTF-8 cannot encode a text with a lone surrogate.
  if (!part.relative_url.isWellFormed()) throw malformedRequest("The address is not valid UTF-8");
  const [path, queryText] = addressOf(references.address(part.relative_url), batch);
  const body = parseBodyText(references.body(part.body, bodyNotation(part.body, headers)), findHeader(headers, "content-type"));
  const ownHeader = (name: string) => findHeader(headers, name);
  const own = derivedFrom(batch, { method, path, queryText, body, header: ownHeader });
  const inherited = inheritedBy(own, incoming);
  const outer = withoutTag(batch);
  return {
    ...derivedFrom(batch, {
      ...{ method, path, queryText: withPairs(queryText, inherited.query) },
      body: { ...body, parameters: { ...inherited.body, ...body.parameters } },
      header: (name) => ownHeader(name) ?? (name === "authorization" && !inherited.hasBearer ? undefined : outer(name)),
    }),
    // D-299: a request of the batch gets the files of the batch that it attaches, and the files of its own body.
    files: new Map([...part.attachedFiles.map((name) => [name, batch.files.get(name) as UploadedFile] as const), ...body.files]),
  };
}

/**
 * The batch's tokens and `migrations_override`, which a request of the batch gets if it has none of its own. Page messaging needs three tokens
 * (D-10), so for such a request the server decides separately about tokens in parameters and the bearer token.
 */
function inheritedBy(own: GraphRequest, { request: batch, registry, world }: Pick<Incoming, "request" | "world" | "registry">) {
  const { query, body } = own;
  const hasOverride = (query.migrations_override ?? body.migrations_override) !== undefined;
  const override = hasOverride ? {} : overrideOf(batch);
  const bringsParameter = query.access_token !== undefined || query.oauth_token !== undefined || body.access_token !== undefined;
  const bringsBearer = own.header("authorization") !== undefined;
  const isClients = world.profile === "clients";
  const isOfThree = !isClients && formByShape(own, { address: readAddress({ request: own, registry, world }) }, registry) === "flat";
  const hasBearer = !bringsBearer && (!bringsParameter || isOfThree);
  if (bringsParameter || (bringsBearer && !isOfThree)) return { query: override, body: {}, hasBearer };
  // D-32: in the profile `clients` a token may be in the query or in the body, and the links of a response repeat the query.
  const [fromQuery, fromBody] = [tokensOf(batch.query), tokensOf(batch.body)];
  return isClients
    ? { query: { ...fromBody, ...fromQuery, ...override }, body: {}, hasBearer }
    : { query: { ...fromQuery, ...override }, body: fromBody, hasBearer };
}

/**
 * The path and query of a request of the batch; the client may have copied its address from a link of an earlier response. A request's path without a
 * version gets the version of the batch's own path.
 */
function addressOf(given: string, batch: GraphRequest): [path: string, queryText: string] {
  const address = given.startsWith(`${batch.baseUrl}/`) ? given.slice(batch.baseUrl.length) : given;
  const mark = address.indexOf("?");
  const path = mark === -1 ? address : address.slice(0, mark);
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const [first] = segmentsOf(batch.path);
  const own = segmentsOf(rooted)[0];
  const isVersioned = own !== undefined && parseVersion(own) !== undefined;
  const versioned = isVersioned || first === undefined || parseVersion(first) === undefined ? rooted : `/${first}${rooted}`;
  return [versioned, mark === -1 ? "" : address.slice(mark + 1)];
}
