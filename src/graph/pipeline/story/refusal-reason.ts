/** Says in one sentence why a request was refused, and what the caller must change so that it succeeds (D-400). */
import type { Policy } from "#auth/policy";
import { nearest } from "#kernel/suggestion";
import type { Registry } from "../../contract/registry.ts";
import type { RequestEntry } from "../../worlds/request-log.ts";
import type { World } from "../../worlds/world.ts";
import { parseAddress } from "../address.ts";
import { edgesOf, hintOf } from "../unserved.ts";
import { type RequestStory, readStory, type StoryPart } from "./story-text.ts";

export interface Told {
  readonly entry: RequestEntry;
  readonly story: RequestStory;
  readonly registry: Registry;
  readonly world: World;
}

/** The sentence that explains a refused request. Undefined if the request was served. */
export function refusalReason(told: Told): string | undefined {
  const { error, message = "", fault } = told.story;
  if (error === undefined) return partsReason(told);
  const made = fault === undefined ? {} : (JSON.parse(fault) as { id?: string; status?: number; rate_limit?: string });
  if (made.status !== undefined || made.rate_limit !== undefined)
    return `Fault ${made.id} refused this request on purpose: remove it with plaza fault clear, or in the console.`;
  const found = finding(error, told) ?? problemIn(message);
  const [problem, mend] = typeof found === "string" ? [found, told.registry.errors.get(error)?.mend ?? ""] : found;
  // An error message that suggests another name already says what to change.
  return problem.endsWith("?") ? capital(problem) : `${capital(problem)}: ${mend}.`;
}

/** The sentence that explains the first refused request of a batch or of `ids=`. */
function partsReason({ entry, story: { parts = [], parts_left_out = 0 }, registry, world }: Told): string | undefined {
  const refused = parts.filter(({ status }) => status >= REFUSED);
  const [first] = refused;
  if (first === undefined) return undefined;
  const part = partEntry(entry, first);
  const story = readStory(part, registry);
  const reason = story === undefined ? undefined : refusalReason({ entry: part, story, registry, world });
  const count = `${refused.length} of ${parts.length + parts_left_out} requests inside this request ${refused.length === 1 ? "was" : "were"} refused`;
  return `${count}, first ${first.method} ${first.path}${reason === undefined ? "." : `: ${reason}`}`;
}

/** The lowest status of a refused request. */
const REFUSED = 400;

/** The log entry that a request of a batch would have if it had been sent alone. */
export const partEntry = (whole: RequestEntry, { operation, method, path, status, story }: StoryPart): RequestEntry => ({
  ...whole,
  ...{ operation, method, path, status, story, parts: undefined },
});

type Finding = string | readonly [problem: string, mend: string] | undefined;

function finding(error: string, told: Told): Finding {
  switch (error) {
    case "tokenMissing":
      return [`the request has no token in ${placeOf(told)}`, `the request needs ${neededToken(told)}`];
    case "tokenInvalid":
    case "tokenExpired":
    case "tokenRevoked":
      return aboutToken(error, told);
    case "permissionMissing":
      return aboutScopes(told);
    case "unsupportedRequest":
    case "unknownObject404":
      return aboutNode(told);
    case "unknownPath":
      return aboutPath(told);
    default:
      return undefined;
  }
}

/** The message of an error without its code, e.g. `The parameter limit must be at most 100`. */
const problemIn = (message: string): string => message.replace(/^\(#\d+\) /, "").replace(/^Param (\S+)/, "The parameter $1");

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const placeOf = ({ story: { data } }: Told): string => (typeof data?.parameter === "string" ? data.parameter : "access_token");

/** `a page token of 2001 with the scope pages_messaging`: the tokens that the operation accepts for the node. */
function neededToken({ entry, story, registry }: Told): string {
  const { id, edge } = parseAddress(entry.path, true, registry);
  const policy: Pick<Policy, "kinds" | "scopes"> | undefined = story.policy ?? registry.accessByShape(entry.method, edge)?.policy;
  if (policy === undefined || policy.kinds.length === 0) return "a token that may use this address";
  const { node } = story;
  const owner = node?.owner ?? (id === "me" ? undefined : id);
  const kinds = policy.kinds.map((kind) => (kind === "page" && owner !== undefined ? `a page token of ${owner}` : `${article(kind)} ${kind} token`));
  return `${kinds.join(" or ")}${policy.scopes.length === 0 ? "" : ` with ${scopesText(policy.scopes)}`}`;
}

const article = (word: string): string => (/^[aeiou](?!se)/.test(word) ? "an" : "a");

const scopesText = (scopes: readonly string[]): string => `the scope${scopes.length > 1 ? "s" : ""} ${scopes.join(" and ")}`;

/** Describes a token, e.g. `a page token of 2002`. */
function tokenText({ type = "", of = "", app = "" }: RequestStory["credentials"][number]): string {
  return type === "app" ? `an app token of app ${app}` : `${article(type)} ${type} token of ${of}`;
}

function aboutToken(error: string, told: Told): Finding {
  const { credentials, policy } = told.story;
  const place = placeOf(told);
  const needed = `the request needs ${neededToken(told)}`;
  if (error === "tokenExpired") return [`the token in ${place} has expired`, needed];
  if (error === "tokenRevoked") return [`the token in ${place} was revoked`, needed];
  const wrong = credentials.find(({ type }) => type !== undefined && policy !== undefined && !policy.kinds.some((kind) => kind === type));
  const alive = wrong ?? credentials.find(({ refusal }) => refusal === undefined);
  if (alive !== undefined && policy !== undefined) return [`the token in ${nameOf(alive.place)} is ${tokenText(alive)}`, needed];
  if (told.story.message?.endsWith("this token is not known") === true) return [`this world has no token with the value in ${place}`, needed];
  return [problemIn(told.story.message ?? ""), needed];
}

function aboutScopes(told: Told): Finding {
  const { credentials, data } = told.story;
  const [first] = credentials.filter(({ type }) => type !== undefined);
  const missing = Array.isArray(data?.permissions) ? (data.permissions as string[]) : [];
  if (first === undefined || missing.length === 0) return undefined;
  return [`${tokenText(first)} lacks ${scopesText(missing)}`, `send a token with ${scopesText(missing)}`];
}

/** The greatest number of edges that a sentence names. */
const EDGES_MAX = 12;

function aboutNode(told: Told): Finding {
  const { entry, story, registry, world } = told;
  const { node, credentials, is_concealed } = story;
  const { id, edge } = parseAddress(entry.path, true, registry);
  if (node === undefined) {
    const near = edge === undefined || registry.isEdge(edge) ? undefined : nearest(edge, edgesOf(registry, undefined));
    if (near !== undefined) return `this world has no node ${id}, and no node has the edge ${edge}; did you mean ${near}?`;
    return [`this world has no node ${id ?? edge ?? ""}`, "check the id, or create the node"];
  }
  const name = `${node.type} ${node.id}`;
  const first = credentials.find(({ type }) => type !== undefined);
  if (is_concealed === true && first !== undefined) return [aboutStranger(told, name, first), `the request needs ${neededToken(told)}`];
  if (story.policy !== undefined) return [`${name} was deleted while the request ran`, "check the id"];
  const served = registry.operationsOn(node.type).filter((endpoint) => (endpoint.served?.contract.edge ?? undefined) === edge);
  const hint = hintOf({ request: { surface: entry.surface as "base" }, world }, entry.method, served);
  if (edge === undefined || hint !== undefined) {
    return [`${name} does not support ${entry.method}${edge === undefined ? "" : ` of ${edge}`}`, hint ?? "check the method"];
  }
  const edges = [...new Set(edgesOf(registry, node.type))];
  const near = nearest(edge, edges);
  if (near !== undefined) return `${name} has no edge ${edge}; did you mean ${near}?`;
  return [`${name} has no edge ${edge}`, edges.length === 0 ? "nodes of this type have no edges" : `its edges are ${listed(edges)}`];
}

/** The explanation for a token whose type is not accepted for the node, or that belongs to another page, person or app. */
function aboutStranger({ story: { policy } }: Told, name: string, token: RequestStory["credentials"][number]): string {
  const isOfKind = policy === undefined || policy.kinds.some((kind) => kind === token.type);
  return isOfKind ? `${name} exists, and ${tokenText(token)} may not see it` : `the token in ${nameOf(token.place)} is ${tokenText(token)}`;
}

const nameOf = (place: string): string => (place === "bearer" ? "Authorization" : place);

const listed = (words: readonly string[]): string => `${words.slice(0, EDGES_MAX).join(", ")}${words.length > EDGES_MAX ? ", …" : ""}`;

function aboutPath({ entry, story, registry }: Told): Finding {
  const { message = "" } = story;
  const words = entry.path.split("/").filter((word) => word !== "" && !/^v\d/.test(word));
  const [first = ""] = words;
  if (message.includes("; the versions are")) return [problemIn(message), "send one of these versions"];
  if (registry.isEdge(first)) return [`the path has no id before ${first}`, `write the id of a node before it, as in /{id}/${first}`];
  const near = nearest(
    first,
    registry.endpoints.flatMap(({ nodeType, served }) => (nodeType === undefined ? (served?.contract.edge ?? []) : [])),
  );
  return near === undefined ? undefined : `Plaza has no address ${entry.path}; did you mean ${near}?`;
}
