/** Makes a request from a step, with the values that the world has at present. */

import type { Nesting, NodeName, RequestStep, ResultValue, Value } from "../histories/steps.ts";
import { findToken, type Place, proofOf } from "../reference/credentials.ts";
import { CREDENTIAL_NAMES, type FeedFile, type GraphRequest } from "../reference/requests.ts";
import { type NodeType, nodesByType, type World } from "../reference/world.ts";

/** The ids of every node that the world ever had, by type, the oldest first. */
export type EverNodes = Map<NodeType, string[]>;

export function noteNodes(world: World, ever: EverNodes): void {
  for (const [type, ids] of nodesByType(world)) {
    const known = ever.get(type) ?? [];
    for (const id of ids) if (!known.includes(id)) known.push(id);
    ever.set(type, known);
  }
}

export function idOf(ever: EverNodes, name: NodeName): string {
  if ("id" in name) return name.id;
  const ids = ever.get(name.type) ?? [];
  const place = name.pick < 0 ? ids.length - 1 - ((-1 - name.pick) % Math.max(1, ids.length)) : name.pick % Math.max(1, ids.length);
  return ids[place] ?? "9999998";
}

/** The values that a step leaves open: the ids of nodes, and the URL of a callback. */
export interface Filling {
  readonly ever: EverNodes;
  readonly callback: (name: string) => string;
  /** The copies of tokens, by the value of the original token. */
  readonly copies: ReadonlyMap<string, string>;
  /** The URL that serves these rows. null stands for a file that is not a feed file, undefined for a URL that serves nothing. */
  readonly file: (rows: FeedFile["rows"] | undefined) => string;
}

function filledIn(filling: Filling, value: Value): Value {
  if (Array.isArray(value)) return value.map((item) => filledIn(filling, item));
  if (typeof value !== "object" || value === null) return value;
  if ("$node" in value) return idOf(filling.ever, value.$node as NodeName);
  if ("$callback" in value) return filling.callback(String(value.$callback));
  if ("$file" in value) return filling.file(value.$file as FeedFile["rows"] | undefined);
  if ("$result" in value) return referenceOf(value as ResultValue);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filledIn(filling, inner)]));
}

/** The name by which later requests of a batch refer to this request. */
export const nameOfPart = (place: number): string => (place % 2 === 0 ? `p${place}` : `der ${place}. Schlüssel`);

const referenceOf = ({ $result: { part, path, before, after } }: ResultValue): string => `${before}{result=${nameOfPart(part)}:${path}}${after}`;

const asText = (value: Value): string => (typeof value === "string" ? value.toWellFormed() : JSON.stringify(value));

/** The fields as a form can carry them: only texts, and no field whose JSON value is null. */
const asForm = (fields: Readonly<Record<string, Value>>, nesting: Nesting | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const meant = nesting === undefined || typeof value !== "object" ? (value ?? undefined) : asBranches(value, nesting === "repeated");
      if (meant === undefined) return [];
      return [[name, nesting === undefined || typeof meant !== "object" ? asText(meant) : meant]];
    }),
  );

/** Lists and objects as a form with bracketed names carries them: with texts, and without null and empty values. */
function asBranches(value: Value, isRepeated = false): Value {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "object") return asText(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => asBranches(item)).filter((item) => item !== undefined);
    if (items.length === 0) return undefined;
    // D-160: a parameter that is repeated with the same value counts as given once.
    const isOne = isRepeated && items.every((item) => typeof item === "string" && item === items[0]);
    return isOne ? items[0] : items;
  }
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const branch = asBranches(inner);
    return branch === undefined ? [] : [[name, branch] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function pairsOf(name: string, value: Value): [string, string][] {
  if (value === null) return [];
  const isRepeated = typeof value === "object" && "$repeated" in (value as object);
  return isRepeated ? (value as { $repeated: Value[] }).$repeated.map((item) => [name, asText(item)]) : [[name, asText(value)]];
}

function cursorOf({ cursor, operation }: RequestStep, node: string, world: World): [string, string][] {
  if (cursor === undefined) return [];
  const list = `${operation} ${node}`;
  const known = [...world.cursors].filter(([, position]) => cursor.from === "any" || position.list === list).map(([text]) => text);
  const drawn = known.at(-1 - (cursor.pick % Math.max(1, known.length)));
  if (drawn === undefined) return [];
  return [[cursor.name, cursor.from === "any" && cursor.pick % 3 === 0 ? `${drawn}x` : drawn]];
}

/** The name and the value of the parameter that proves a token. */
export function provenBy(world: World, value: string | undefined, proof: RequestStep["proof"]): Record<string, string> {
  const token = value === undefined ? undefined : findToken(world, value);
  if (proof === undefined || token === undefined) return {};
  const right = proofOf(world, token);
  return { appsecret_proof: { right, upper: right.toUpperCase(), wrong: right.replace(/./, (digit) => (digit === "0" ? "1" : "0")) }[proof.is] };
}

const CREDENTIALS: readonly Place[] = ["access_token", "oauth_token"];

/** Padding that makes the head longer than its limit (16 KiB) or the body longer than its limit (1 MiB). */
const PADDING = { head: "x".repeat(17_000), body: "x".repeat(1_100_000) };

const standsOnce = (query: GraphRequest["query"], name: string): boolean => query.filter(([other]) => other === name).length === 1;

/** The query with each parameter twice, unless its name occurs more than once already. */
const twice = (query: GraphRequest["query"]): GraphRequest["query"] => query.flatMap((pair) => (standsOnce(query, pair[0]) ? [pair, pair] : [pair]));

/** The request with its parameters in the body, except credentials, which count only in certain places, and names that occur several times. */
function inItsBody(request: GraphRequest): GraphRequest {
  const isMoved = (name: string): boolean => !CREDENTIAL_NAMES.has(name) && standsOnce(request.query, name) && !name.includes("[");
  return {
    ...request,
    query: request.query.filter(([name]) => !isMoved(name)),
    body: { kind: "form", fields: Object.fromEntries(request.query.filter(([name]) => isMoved(name))) },
  };
}

/** Changes the request to the unusual form that the step's `sent` names. */
function sentAs(sent: RequestStep["sent"], request: GraphRequest, world: World): GraphRequest {
  const { query, headers, body, method, surface } = request;
  switch (sent) {
    case undefined:
      return request;
    case "twice":
      world.reach("twice");
      return { ...request, query: twice(query) };
    case "in the body":
      // D-50: the endpoint of required actions reads parameters only from the query.
      if (body !== undefined || method === "POST" || surface === "app" || query.length === 0) return request;
      world.reach("readInBody");
      return inItsBody(request);
    case "by a page":
      return { ...request, headers: { ...headers, origin: "https://pages.example" } };
    case "gzip":
      if (body === undefined) return request;
      world.reach("gzip");
      return { ...request, body: { ...body, isPacked: true } };
    case "large head":
      return { ...request, headers: { ...headers, "x-padding": PADDING.head } };
    case "large body":
      return body?.kind === "json" ? { ...request, body: { ...body, fields: { ...body.fields, padding: PADDING.body } } } : request;
  }
}

const filesOf = ({ body }: RequestStep) => (body?.file === undefined ? {} : { file: body.file });

export const resolve = (step: RequestStep, world: World, filling: Filling): GraphRequest => sentAs(step.sent, usual(step, world, filling), world);

function usual(given: RequestStep, world: World, filling: Filling): GraphRequest {
  const copied = Object.entries(given.tokens).map(([place, value]) => [place, filling.copies.get(value) ?? value]);
  const step: RequestStep = { ...given, tokens: Object.fromEntries(copied) };
  const node = idOf(filling.ever, step.node);
  const hasBody = step.method !== "GET" && (step.body !== undefined || step.tokens.body !== undefined);
  const proof = provenBy(world, Object.values(step.tokens)[0], step.proof);
  const isInBody = hasBody && step.proof?.place === "body";
  const query: [string, string][] = [
    ...Object.entries(step.query).flatMap(([name, value]) => pairsOf(name, filledIn(filling, value))),
    ...cursorOf(step, node, world),
    ...(isInBody ? [] : Object.entries(proof)),
    ...CREDENTIALS.flatMap((place): [string, string][] => (step.tokens[place] === undefined ? [] : [[place, step.tokens[place]]])),
  ];
  const kind = step.body?.kind ?? "json";
  if (step.body?.nesting !== undefined && Object.values(step.body.fields).some((value) => typeof value === "object" && value !== null))
    world.reach("nestedForm");
  const fields = {
    ...(filledIn(filling, step.body?.fields ?? {}) as Record<string, unknown>),
    ...(step.tokens.body === undefined ? {} : { access_token: step.tokens.body }),
    ...(isInBody ? proof : {}),
  };
  return {
    method: step.method,
    surface: step.surface,
    path: ["", step.version, node, step.edge]
      .filter((segment) => segment !== null && segment !== undefined)
      .join("/")
      .replace(/\/$/, ""),
    query,
    ...(hasBody
      ? { body: { kind, fields: kind === "json" ? fields : asForm(fields, step.body?.nesting), nesting: step.body?.nesting, ...filesOf(step) } }
      : {}),
    headers: { ...step.headers, ...(step.tokens.header === undefined ? {} : { authorization: `Bearer ${step.tokens.header}` }) },
  };
}
