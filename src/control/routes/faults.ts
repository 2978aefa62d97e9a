/** The routes that create, list and delete faults, which a tester causes on purpose in requests and webhooks (D-150). */
import { type Static, Type } from "typebox";
import { badRequest, conflict } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { manyNames } from "#graph/pipeline/stages";
import { FAULTS_MAX, type Fault, type RequestFaultInput, type WebhookFaultInput } from "#graph/worlds/fault-injection";

/** The longest delay of a response. Clients do not wait longer than this limit for a response. */
const LATENCY_MS_MAX = 300_000;
/** The greatest length of the response body of a fault, enough for the error page of a proxy. A hundred bodies of this length use little memory. */
const BODY_CHARACTERS_MAX = 65_536;

/** The longest time by which a fault can move the clock: ten years, which is longer than any token is valid. */
const ADVANCE_SECONDS_MAX = 10 * 366 * 86_400;

const limits = {
  times: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "the number of affected requests or webhooks (default: all until the fault is deleted)",
    }),
  ),
  probability: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "the share of matching requests or webhooks that the fault affects, from 0 to 1" }),
  ),
  skip: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "the number of matching requests or webhooks, also within one POST, that pass before the fault takes effect",
    }),
  ),
  lasts_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LATENCY_MS_MAX,
      description: "the real time after which the fault ends, counted from the first request or webhook that it affects",
    }),
  ),
};
const node = Type.Optional(
  Type.String({ minLength: 1, description: "the id of the node that a request addresses, or of the page or account that a webhook is about" }),
);
const requestEffects = {
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599, description: "the status of an error that replaces the operation" })),
  rate_limit: Type.Optional(
    Type.Union([Type.Literal("app"), Type.Literal("page")], { description: "a rate limit whose error replaces the operation" }),
  ),
  latency_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: LATENCY_MS_MAX, description: "the real time that the operation or the webhook is delayed" }),
  ),
  page_max: Type.Optional(Type.Integer({ minimum: 1, description: "the most items on a page of a list, whatever limit the request has" })),
  revoke_tokens: Type.Optional(Type.Literal(true, { description: "the request's tokens are revoked before the operation runs" })),
  advance_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ADVANCE_SECONDS_MAX,
      description: "the world's clock moves forward by these seconds before the operation runs",
    }),
  ),
  body: Type.Optional(Type.String({ maxLength: BODY_CHARACTERS_MAX, description: "a text that replaces the body of the response" })),
  reset: Type.Optional(Type.Literal(true, { description: "the connection is reset instead of a response, after the operation has run" })),
  cut_body_at: Type.Optional(Type.Integer({ minimum: 0, description: "the connection ends after this number of bytes of the response's body" })),
  body_bytes_per_second: Type.Optional(
    Type.Integer({ minimum: 1, description: "the speed at which the response's body is sent; the whole body takes 300 s at most" }),
  ),
};
const fields = {
  operation: Type.Optional(
    Type.String({
      minLength: 1,
      description: "the name of an operation; batch or ids for a request that contains other requests; * for all",
    }),
  ),
  webhook: Type.Optional(Type.String({ minLength: 1, description: "a webhook field, or * for all fields, instead of an operation" })),
  node,
  query: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "parameters of matching requests, in the query or body; a structured value is JSON text",
    }),
  ),
  token: Type.Optional(
    Type.String({ minLength: 1, description: "the value of a token that a matching request sends; the response shows the id of the token instead" }),
  ),
  ...requestEffects,
  code: Type.Optional(Type.Integer({ description: "the code of the error (default: 2)" })),
  retry_after_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "the wait before a new attempt, for status or rate_limit (default for rate_limit: 60)",
    }),
  ),
  content_type: Type.Optional(Type.String({ pattern: "^[!-~]([ -~]{0,200}[!-~])?$", description: "the content type of the text in body" })),
  effect: Type.Optional(
    Type.Union([Type.Literal("lose"), Type.Literal("repeat"), Type.Literal("reorder"), Type.Literal("delay"), Type.Literal("batch")], {
      description:
        "lose: never sent; repeat: sent twice; reorder: sent after a later webhook; delay: sent late; batch: sent in one POST with later webhooks",
    }),
  ),
  ...limits,
};
const faultBody = Type.Object(fields, { additionalProperties: false });
type FaultBody = Static<typeof faultBody>;
const fault = Type.Object({
  id: Type.String(),
  ...fields,
  met: Type.Integer({ description: "the number of requests or webhooks that the fault has affected" }),
});
const FAULTS = "/v1/worlds/{w}/faults";

const ofWebhooks = new Set<string>(["webhook", "node", "effect", "latency_ms", ...Object.keys(limits)]);
const ofRequests = new Set<string>(Object.keys(fields).filter((name) => name !== "webhook" && name !== "effect"));
/** The keys of a fault that require another key. For example, a fault with the key `code` must also have the key `status`. */
const partners: Readonly<Record<string, readonly string[]>> = {
  code: ["status"],
  retry_after_seconds: ["rate_limit", "status"],
  content_type: ["body"],
};

async function createFault(request: ControlRequest<unknown, FaultBody>): Promise<Fault> {
  const { deps, world, body } = request;
  if (!deps.servesGraph) throw conflict("faults have no effect with --workers; start one process");
  if ((body.operation === undefined) === (body.webhook === undefined))
    throw badRequest("a fault needs either an operation or a webhook", "operation");
  if (world.faults.list().length >= FAULTS_MAX)
    throw conflict(`the world already has ${FAULTS_MAX} faults, which is the maximum: delete faults that are not needed`);
  return world.faults.add(body.webhook === undefined ? await requestFaultOf(request) : webhookFaultOf(request));
}

function webhookFaultOf({ world, body }: ControlRequest<unknown, FaultBody>): WebhookFaultInput {
  requireOnly(body, ofWebhooks, "webhook");
  const { webhook = "*", effect } = body;
  if (webhook !== "*" && !world.webhooks.fields.all.some(({ field }) => field === webhook)) {
    throw badRequest(`the webhook field ${webhook} does not exist`, "webhook");
  }
  if (body.latency_ms !== undefined && (effect === "lose" || effect === "repeat"))
    throw badRequest("latency_ms is only possible together with the effect reorder, delay or batch", "latency_ms");
  if (effect === undefined) throw badRequest("a fault of webhooks needs an effect: lose, repeat, reorder, delay or batch", "effect");
  return body as WebhookFaultInput;
}

async function requestFaultOf({ deps, world, body }: ControlRequest<unknown, FaultBody>): Promise<RequestFaultInput> {
  requireOnly(body, ofRequests, "operation");
  const { operation = "*", token, status, rate_limit } = body;
  const isKnown = ["*", ...manyNames].includes(operation) || deps.registry.endpoints.some(({ access }) => access.operation === operation);
  if (!isKnown) throw badRequest(`there is no operation ${operation}`, "operation");
  const effects = Object.keys(requestEffects);
  if (!effects.some((name) => Object.hasOwn(body, name))) throw badRequest(`a fault of requests needs one of ${effects.join(", ")}`, "status");
  if (status !== undefined && rate_limit !== undefined) throw badRequest("a fault can have a status or a rate_limit, not both", "rate_limit");
  for (const [name, required] of Object.entries(partners)) {
    if (Object.hasOwn(body, name) && !required.some((partner) => Object.hasOwn(body, partner)))
      throw badRequest(`${name} is only possible together with ${required.join(" or ")}`, name);
  }
  if (token === undefined) return body as RequestFaultInput;
  const found = await world.tokens.find(token);
  if (found === undefined) throw badRequest("no token of this world has this value", "token");
  return { ...body, token: found.id } as RequestFaultInput;
}

function requireOnly(body: FaultBody, known: ReadonlySet<string>, of: string): void {
  const other = Object.keys(body).find((name) => !known.has(name));
  if (other !== undefined) throw badRequest(`${other} cannot be used together with ${of}`, other);
}

export const faultRoutes: readonly ControlRoute[] = [
  route(`POST ${FAULTS}`, "createFault", {
    summary:
      "Creates a fault: requests fail, are delayed or damaged; webhooks are lost, repeated or reordered. The first fault that matches a request or webhook affects it, a number of times or with a probability",
    body: faultBody,
    status: 201,
    response: fault,
    errors: [409],
    handle: createFault,
  }),
  route(`GET ${FAULTS}`, "listFaults", {
    summary: "Lists the faults that are still in effect",
    response: Type.Object({ data: Type.Array(fault), paging: Type.Object({}) }),
    handle: async ({ world }) => ({ data: world.faults.list(), paging: {} }),
  }),
  route(`DELETE ${FAULTS}`, "deleteFaults", {
    summary: "Deletes all faults",
    handle: async ({ world }) => world.faults.clear(),
  }),
];
