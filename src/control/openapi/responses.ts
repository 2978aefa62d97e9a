/** Describes the responses in the OpenAPI document of the control API: results, and errors by status. */
import type { TSchema } from "typebox";
import { type ControlCode, controlCodes } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { type PlainSchema, returnedSchema } from "#graph/schema/public-schema";

/** Makes a reference to a schema among the document's components. */
export const schemaRef = (name: string): PlainSchema => ({ $ref: `#/components/schemas/${name}` });

/** Returns the name of the schema of an entry in a request. The schema of an entry in a response is named after the entry's key of the world file. */
export const entryName = (key: string): string => `${key}_entry`;

/** The cause of an error, and the routes that return the error. Without `isOf`, the error belongs to the routes that declare its status. */
interface Refusal {
  readonly why: string;
  readonly headers?: PlainSchema;
  isOf?(route: ControlRoute): boolean;
}

const always = (): boolean => true;

/**
 * The errors of the control API, by their codes. The status 405 is left out, because no operation returns 405: an address has
 * operations only for its allowed methods.
 */
const refusals: Readonly<Record<Exclude<ControlCode, "method_not_allowed">, Refusal>> = {
  bad_request: { why: "The body, a parameter or an entry is malformed.", isOf: ({ query, body }) => query !== undefined || body !== undefined },
  unauthorized: {
    why: "The request has no control key, or a wrong one.",
    headers: { "WWW-Authenticate": { description: "`Bearer`", schema: { type: "string" } } },
    isOf: ({ needsNoKey }) => needsNoKey !== true,
  },
  forbidden: {
    why: "The key may only read; or a page of another site sent the request to a sandbox, or the request is for a host name that the sandbox does not serve.",
    isOf: always,
  },
  not_found: { why: "The world, node, token or kind of node does not exist.", isOf: ({ path }) => path.includes("{") },
  conflict: { why: "The id, name or token exists already, or the state of the node does not allow the operation." },
  body_too_large: { why: "The body is larger than allowed.", isOf: ({ body }) => body !== undefined },
  unprocessable: {
    why: "The request is well formed, but refused: it refers to a node that does not exist, a world file cannot be loaded, or the expected entries did not come.",
  },
  internal_error: { why: "An unexpected error; see the log of the server.", isOf: always },
  unavailable: { why: "The database cannot be reached.", isOf: always },
};
const known = Object.entries(refusals) as [keyof typeof refusals, Refusal][];

const errorProperties: PlainSchema = {
  error: {
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { type: "string", enum: Object.keys(controlCodes) },
      message: { type: "string" },
      parameter: { type: "string", description: "the parameter, or the path of the value in the body" },
    },
  },
};
export const errorSchema: PlainSchema = { type: "object", required: ["error"], properties: errorProperties };

export const json = (schema: PlainSchema) => ({ "application/json": { schema } });
const refusalOf = ({ why, headers }: Refusal, schema: PlainSchema): PlainSchema => ({
  description: why,
  ...(headers === undefined ? {} : { headers }),
  content: json(schema),
});

/** The error responses of the OpenAPI document, by the codes of the errors. */
export const errorResponses: PlainSchema = Object.fromEntries(known.map(([code, refusal]) => [code, refusalOf(refusal, schemaRef("Error"))]));

export function responsesOf(route: ControlRoute, section: WorldSection | undefined): PlainSchema {
  const responses: PlainSchema = { [route.status ?? 200]: { description: "Done.", content: contentOf(route, section) } };
  if (route.unfinished !== undefined) responses[202] = { description: route.unfinished, content: contentOf(route, section) };
  for (const [code, { isOf }] of known) {
    const status = controlCodes[code];
    if (isOf?.(route) === true || route.errors?.some((own) => own === status) === true)
      responses[status] = { $ref: `#/components/responses/${code}` };
  }
  if (route.unmet !== undefined) responses[422] = refusalOf(refusals.unprocessable, withError(returnedSchema(route.unmet)));
  return responses;
}

function contentOf(route: ControlRoute, section: WorldSection | undefined): PlainSchema {
  const { streams = [], isStreamAlone = false } = route;
  const result = resultOf(route, section);
  const stream = { schema: { type: "string" }, ...(isStreamAlone ? { "x-plaza-item": result } : {}) };
  return { ...(isStreamAlone ? {} : json(result)), ...Object.fromEntries(streams.map((type) => [type, stream])) };
}

function resultOf({ response }: ControlRoute, section: WorldSection | undefined): PlainSchema {
  if (response === "file") return schemaRef("world_file");
  if (response === "entry") return schemaRef(section?.key ?? "");
  return returnedSchema(response === "entries" ? listOf(schemaRef(section?.key ?? "") as unknown as TSchema) : response);
}

/** Makes the schema of an error response that has other keys besides the error. */
const withError = ({ required = [], properties, ...schema }: PlainSchema): PlainSchema => ({
  ...schema,
  required: ["error", ...(required as string[])],
  properties: { ...errorProperties, ...(properties as PlainSchema) },
});
