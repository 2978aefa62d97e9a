/** The refusals of callers, with the forms of the errors. */
import { type Credential, inPlaces, problemsOfPlaces, type Scheme } from "./credentials.ts";
import { type ErrorName, type Failure, type Form, failure } from "./errors.ts";
import type { Token } from "./nodes.ts";
import type { Operation } from "./operations.ts";
import { type Address, isOfIntents } from "./paths.ts";
import { type GraphRequest, inQuery } from "./requests.ts";
import type { World } from "./world.ts";

export const bothForms = (error: ErrorName): Failure[] => [failure("flat", error), failure("wrapped", error)];

export const PAGE_MESSAGING_EDGES: ReadonlySet<string> = new Set(["custom_labels", "label", "personas"]);

/** D-90: the form of the error depends only on the form of the request, never on the stored data. */
const formWithoutNode = (request: GraphRequest, edge: string): Form =>
  PAGE_MESSAGING_EDGES.has(edge) || (edge === "" && inQuery(request, "oauth_token") !== undefined) ? "flat" : "wrapped";

/** D-20: the error for a node that does not exist. */
export function missingNode(world: World, request: GraphRequest, address: Address): Failure {
  if (!isOfIntents(request, address)) return failure(formWithoutNode(request, address.edge), "unsupportedRequest");
  world.reach("missingIntentForm");
  return failure("wrapped", "unknownObject404");
}

/** D-90, D-12: how the server refuses a request if none of its tokens counts. */
export function withoutToken(
  world: World,
  request: GraphRequest,
  { edge }: Address,
  given: readonly Credential[],
  scheme: Scheme | undefined,
): Failure[] {
  const form = formWithoutNode(request, edge);
  const isMissing = given.length === 0 || (scheme === "three" && given.length < 3);
  if (given.length > 0) world.reach("deadToken");
  else world.reach(form === "flat" ? "missingTokenFlat" : "missingTokenWrapped");
  const dead = given.flatMap(({ problem }) => (problem === undefined ? [] : [failure(form, problem)]));
  const different = new Set(given.map(({ value }) => value)).size > 1 && scheme !== "three" ? [failure(form, "invalidParameter")] : [];
  return [...(isMissing ? [failure(form, "tokenMissing")] : []), ...dead, ...different];
}

/** D-93: how the server refuses invalid tokens. The server checks all tokens before it decides which nodes the caller may see. */
export function deadOnes(
  world: World,
  request: GraphRequest,
  { edge }: Address,
  given: readonly Credential[],
  schemes: readonly Scheme[],
): Failure[] {
  const scheme = schemes[0] ?? "any";
  const counting = inPlaces(world, scheme, given);
  if (!counting.some(({ problem }) => problem !== undefined)) return [];
  const form = formWithoutNode(request, edge);
  return problemsOfPlaces(world, scheme, counting).map((error) => failure(form, error));
}

/**
 * D-16: whether the operation serves tokens of this type. For a token of another type, the server may also send the response that a stranger gets.
 */
export const isOfServedKind = ({ profile }: World, { kinds, kindsOfClients = [] }: Operation, { type }: Token): boolean =>
  kinds.includes(type) || (profile === "clients" && kindsOfClients.includes(type));

/** D-91, D-11: the rights that a caller may lack who may know that the node exists and sends the tokens where they count. */
export function lacks(world: World, operation: Operation, tokens: readonly Token[], node: string): ErrorName[] {
  const { scopes, lacksScope, hasTask, method, isOfNoPerson } = operation;
  const reasons: [boolean, ErrorName][] = [
    [tokens.some((token) => !isOfServedKind(world, operation, token)), "tokenInvalid"],
    [tokens.some((token) => scopes.some((scope) => !token.scopes.includes(scope)) || lacksScope?.(world, token, node)), "permissionMissing"],
    [tokens.some((token) => !hasTask(world, token, node)), "taskMissing"],
    [method === "GET" && isOfNoPerson === undefined && tokens.some((token) => isDataOver(world, token)), "tokenExpired"],
  ];
  const problems = reasons.flatMap(([is, error]) => (is ? [error] : []));
  if (problems.includes("tokenInvalid")) world.reach("kind");
  if (problems.includes("permissionMissing")) world.reach("scope");
  if (problems.includes("taskMissing")) world.reach("task");
  if (problems.includes("tokenExpired")) world.reach("dataAccess");
  return problems;
}

export const isDataOver = ({ now }: World, { data_access_expires_at: end }: Token): boolean => end !== 0 && end <= now;
