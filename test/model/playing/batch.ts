/** Sends a batch, and compares the response of each request to the model's response to that request alone, in order (D-34, D-284). */
import type { BatchPart, BatchStep, ResultValue } from "../histories/steps.ts";
import { credentialsOf } from "../reference/credentials.ts";
import { failure } from "../reference/errors.ts";
import { isFailure, type Reply } from "../reference/replies.ts";
import { formOfPath, replyTo } from "../reference/reply.ts";
import { CREDENTIAL_NAMES, type GraphRequest, inBody, inQuery } from "../reference/requests.ts";
import { isOverrideWrong } from "../reference/versions.ts";
import type { World } from "../reference/world.ts";
import { changesFact } from "./ask.ts";
import { type Compared, compare, compareStatus } from "./compare.ts";
import { type Filling, nameOfPart, noteNodes, provenBy, resolve } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";
import { FORM, type Received, send, writtenBody } from "./send.ts";

interface PartReply {
  readonly code: number;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

/** The result of one request of a batch, to which later requests may refer. */
interface Outcome {
  readonly isDone: boolean;
  /** The body of the result; undefined if it has no body. */
  readonly body: unknown;
}

export async function askInBatch(stage: Stage, scene: Scene, given: BatchStep, filling: Filling): Promise<string | undefined> {
  const step: BatchStep = { ...given, token: filling.copies.get(given.token) ?? given.token };
  const { world } = scene;
  const address = stage.servers.address(scene.place, step.surface);
  const requests = step.parts.map((part) => resolve(part.step, world, filling));
  const whole = wholeOf(
    step,
    world,
    step.parts.map((part, place) => writtenPart(step, part, requests[place] as GraphRequest, { place, address })),
  );
  const received = await send(address, whole);
  const refused = refusalOf(step, world, whole);
  if (refused !== undefined) {
    const replied = { operation: undefined, replies: refused, version: undefined };
    return inWords(compare(replied, world.profile, received).difference, whole, received);
  }
  const replies = received.body as readonly (PartReply | null)[];
  if (received.status !== 200 || !Array.isArray(replies) || replies.length !== step.parts.length)
    return inWords("the response is not a list with a reply for each part", whole, received);
  const outcomes: Outcome[] = [];
  for (const [place, part] of step.parts.entries()) {
    const request = requests[place] as GraphRequest;
    const problem = takePart(stage, scene, { ...{ step, part, outcomes, address, whole, request }, reply: replies[place] ?? null });
    if (problem !== undefined) return inWords(`part ${place}: ${problem}`, whole, received);
  }
  return undefined;
}

const inWords = (difference: string | undefined, whole: GraphRequest, { status, body }: Received): string | undefined =>
  difference === undefined ? undefined : `a batch ${JSON.stringify(whole)}: ${status} ${JSON.stringify(body)}\n  ${difference}`;

/** The request that contains the batch. */
function wholeOf(
  { token, places, proof, notation, hasHeaders, override, version, surface }: BatchStep,
  world: World,
  batch: readonly unknown[],
): GraphRequest {
  const proven = Object.entries(provenBy(world, token, proof));
  const isProvenInBody = proof?.place === "body";
  const ofQuery = places.filter((place) => place === "access_token" || place === "oauth_token").map((place): [string, string] => [place, token]);
  const isJson = notation === "json";
  return {
    ...{ method: "POST", surface, path: `/${version ?? ""}` },
    query: [...ofQuery, ...(isProvenInBody ? [] : proven)],
    body: {
      kind: notation,
      fields: {
        batch: isJson ? batch : JSON.stringify(batch),
        ...(hasHeaders ? {} : { include_headers: isJson ? false : "false" }),
        ...(override === undefined ? {} : { migrations_override: isJson || typeof override === "string" ? override : JSON.stringify(override) }),
        ...(places.includes("body") ? { access_token: token } : {}),
        ...(isProvenInBody ? Object.fromEntries(proven) : {}),
      },
    },
    headers: places.includes("header") ? { authorization: `Bearer ${token}` } : {},
  };
}

/** The possible refusals of the whole batch. If the batch is refused, none of its requests runs. */
function refusalOf({ foreignHeader }: BatchStep, world: World, whole: GraphRequest): readonly Reply[] | undefined {
  const dead = credentialsOf(world, whole)[0]?.problem;
  if (dead !== undefined) return [failure("wrapped", dead), failure("flat", dead)];
  if (foreignHeader === undefined && !isOverrideWrong(world, whole)) return undefined;
  world.reach("batchRefused");
  return [failure("wrapped", "invalidParameter"), failure("flat", "invalidParameter")];
}

const REFERENCE = /\{result=([^:{}]+):(\$[^{}]*)\}/g;

/** One request of the batch as text. References with bare braces are not percent-encoded. */
function written(text: string, part: BatchPart, encode: (text: string) => string): string {
  if (part.references === "encoded") return encode(text);
  const all = text.match(REFERENCE) ?? [];
  return text
    .split(REFERENCE_ALONE)
    .map((between, place) => `${encode(between)}${all[place] ?? ""}`)
    .join("");
}

/** Matches a reference. The regular expression has no groups, because `split` would return their matches. */
const REFERENCE_ALONE = /\{result=[^:{}]+:\$[^{}]*\}/;

const encodeForm = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);

const queryOf = (pairs: GraphRequest["query"], part: BatchPart): string =>
  pairs.map(([name, value]) => `${encodeForm(name)}=${written(value, part, encodeForm)}`).join("&");

/** The path `{version}/{node}/{edge}`. The id from another request of the batch may replace the id of the node. */
function pathOf({ step, nodeOf }: BatchPart, request: GraphRequest, id: string): string {
  if (nodeOf === undefined) return request.path;
  return ["", step.version, id, step.edge]
    .filter((segment) => segment !== null && segment !== "")
    .join("/")
    .replace(/^(?!\/)/, "/");
}

const nodeReference = ({ nodeOf = 0 }: BatchPart): string => `{result=${nameOfPart(nodeOf)}:$.id}`;

function addressOf(part: BatchPart, request: GraphRequest, address: string): string {
  const path = pathOf(part, request, part.nodeOf === undefined ? "" : written(nodeReference(part), part, encodeURIComponent));
  const query = queryOf(request.query, part);
  const begin = { path: path.slice(1), "/path": path, whole: `${address}${path}` }[part.address];
  return query === "" ? begin : `${begin}?${query}`;
}

/** The numbers of the earlier requests in the batch to which this request refers. */
function referencesOf({ nodeOf, step }: BatchPart): number[] {
  const values = [...Object.values(step.query), ...Object.values(step.body?.fields ?? {})];
  const ofValues = values.flatMap((value) =>
    typeof value === "object" && value !== null && "$result" in value ? [(value as ResultValue).$result.part] : [],
  );
  return nodeOf === undefined ? ofValues : [nodeOf, ...ofValues];
}

/** The numbers of the earlier requests that must succeed before this request runs. */
const needsOf = (part: BatchPart): number[] => (part.dependsOn === undefined ? referencesOf(part) : [part.dependsOn, ...referencesOf(part)]);

const isReferredTo = (parts: readonly BatchPart[], place: number): boolean => parts.some((part) => needsOf(part).includes(place));

const TAGS = { any: "*", another: '"other"' } as const;

function headersOf(
  { foreignHeader }: BatchStep,
  part: BatchPart,
  request: GraphRequest,
  type: string | undefined,
  place: number,
): Record<string, string> {
  return {
    ...(foreignHeader !== undefined && place === 0 ? { [foreignHeader]: "1" } : {}),
    ...request.headers,
    ...(part.tag === undefined ? {} : { "If-None-Match": TAGS[part.tag] }),
    ...(type === undefined ? {} : { "Content-Type": type }),
  };
}

function writtenPart(
  batch: BatchStep,
  part: BatchPart,
  request: GraphRequest,
  { place, address }: { readonly place: number; readonly address: string },
): Record<string, unknown> {
  const { dependsOn, isOmitted, isHead, isTyped, isObject } = part;
  const body = request.body === undefined ? undefined : bodyOf(part, request.body);
  const hasType = body !== undefined && (isTyped || request.body?.kind === "multipart");
  const headers = headersOf(batch, part, request, hasType ? body.type : undefined, place);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return {
    ...{ method: isHead ? "HEAD" : request.method, relative_url: addressOf(part, request, address) },
    ...(lines.length === 0 ? {} : { headers: part.headers === "list" ? lines : headers }),
    ...(body === undefined ? {} : { body: isObject && request.body?.kind === "json" ? request.body.fields : body.text }),
    ...(isReferredTo(batch.parts, place) ? { name: nameOfPart(place), omit_response_on_success: isOmitted } : {}),
    ...(dependsOn === undefined ? {} : { depends_on: nameOfPart(dependsOn) }),
  };
}

function bodyOf(part: BatchPart, body: NonNullable<GraphRequest["body"]>): { readonly type: string; readonly text: string } {
  const plain = writtenBody(body);
  if (body.kind === "json") return part.references === "bare" ? plain : { ...plain, text: plain.text.replaceAll("{result=", "\\u007bresult=") };
  if (body.kind !== "form") return plain;
  return { type: FORM, text: queryOf([...new URLSearchParams(plain.text)], part) };
}

/** The values at the path of a reference, as text. */
function textAt(body: unknown, path: string): string {
  const steps = path.match(/\.\.\w+|\.\w+|\.\*|\[\d+\]|\[\*\]|\['\w+'\]/g) ?? [];
  const found = steps.reduce((values: readonly unknown[], one) => values.flatMap((value) => stepInto(value, one)), body === undefined ? [] : [body]);
  return found.map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))).join(",");
}

function stepInto(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const name = step.replaceAll(/[.[\]']/g, "");
  const own = Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
  if (name === "*") return Object.values(value);
  return step.startsWith("..") ? [...own, ...Object.values(value).flatMap((inner) => stepInto(inner, step))] : own;
}

function withResults<Value>(value: Value, outcomes: readonly Outcome[]): Value;
function withResults(value: unknown, outcomes: readonly Outcome[]): unknown {
  if (typeof value === "string") {
    return value.replaceAll(REFERENCE, (_, name: string, path: string) =>
      textAt(outcomes.find((_, place) => nameOfPart(place) === name)?.body, path),
    );
  }
  if (Array.isArray(value)) return value.map((item: unknown) => withResults(item, outcomes));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withResults(inner, outcomes)]));
}

const credentialsIn = (pairs: readonly (readonly [string, unknown])[]) => pairs.filter(([name]) => CREDENTIAL_NAMES.has(name));

/** The full request that an entry of the batch stands for, with everything that the entry takes from the batch. */
function meantBy({ step, part, outcomes, whole, request: given }: Taken, world: World): GraphRequest {
  const isClients = world.profile === "clients";
  const path = pathOf(part, given, part.nodeOf === undefined ? "" : textAt(outcomes[part.nodeOf]?.body, "$.id"));
  // In a multipart body, references are not resolved.
  const texts =
    given.body?.kind === "multipart" ? { query: given.query } : { query: given.query, ...(given.body === undefined ? {} : { body: given.body }) };
  const own: GraphRequest = {
    ...{ ...given, ...withResults(texts, outcomes) },
    path: part.step.version === null && step.version !== null ? `/${step.version}${path}` : path,
  };
  const bringsParameter =
    ["access_token", "oauth_token"].some((name) => inQuery(own, name) !== undefined) || inBody(own, "access_token") !== undefined;
  const bringsBearer = own.headers.authorization !== undefined;
  const isOfThree = !isClients && formOfPath(own) === "flat";
  const hasBearer = !bringsBearer && (!bringsParameter || isOfThree) && whole.headers.authorization !== undefined;
  const hasParameters = !bringsParameter && (!bringsBearer || isOfThree);
  if (bringsParameter || bringsBearer) world.reach(isOfThree ? "batchTokensOfThree" : "batchOwnTokens");
  const [ofQuery, ofBody] = [credentialsIn(whole.query), credentialsIn(Object.entries(whole.body?.fields ?? {}))] as [
    [string, string][],
    [string, string][],
  ];
  const override = whole.body?.fields.migrations_override;
  const hasOverride = override !== undefined && inQuery(own, "migrations_override") === undefined && inBody(own, "migrations_override") === undefined;
  if (hasOverride) world.reach("batchMigrations");
  const query = [
    ...own.query,
    ...(hasParameters ? (isClients ? Object.entries({ ...Object.fromEntries(ofBody), ...Object.fromEntries(ofQuery) }) : ofQuery) : []),
    ...(hasOverride ? [["migrations_override", typeof override === "string" ? override : JSON.stringify(override)] as const] : []),
  ];
  const inherited = hasParameters && !isClients ? Object.fromEntries(ofBody) : {};
  const hasBody = own.body !== undefined || Object.keys(inherited).length > 0;
  return {
    ...{ ...own, query },
    ...(hasBody ? { body: { kind: "form", ...own.body, fields: { ...inherited, ...own.body?.fields } } } : {}),
    headers: { ...(hasBearer ? whole.headers : {}), ...own.headers },
  };
}

interface Taken {
  readonly step: BatchStep;
  readonly part: BatchPart;
  readonly outcomes: Outcome[];
  readonly address: string;
  readonly whole: GraphRequest;
  readonly request: GraphRequest;
  readonly reply: PartReply | null;
}

function takePart(stage: Stage, scene: Scene, taken: Taken): string | undefined {
  const { world, ever, place: name } = scene;
  const { step, part, outcomes, address, reply } = taken;
  const place = outcomes.length;
  if (needsOf(part).some((one) => outcomes[one]?.isDone !== true)) {
    world.reach("batchSkipped");
    outcomes.push({ isDone: false, body: undefined });
    return reply === null ? undefined : "the request depends on a failed one, and still ran";
  }
  noteNotation(world, part);
  const meant = meantBy(taken, world);
  const observed = receivedOf(reply);
  const replied = replyTo(world, meant, address, observed);
  const [first] = replied.replies;
  const changes = (own: Reply | undefined) => {
    if (changesFact(replied.operation, own)) stage.servers.noteFact(name);
  };
  if (part.isOmitted && isReferredTo(step.parts, place) && first !== undefined && !isFailure(first) && part.tag !== "any") {
    world.reach("batchOmitted");
    changes(first);
    outcomes.push({ isDone: true, body: part.isHead ? undefined : first.body });
    return reply === null ? undefined : "its response should be omitted";
  }
  if (reply === null) return "the request did not run, or its response is left out";
  if ((reply.headers === undefined) === step.hasHeaders) return step.hasHeaders ? "the response has no headers" : "it has headers";
  const { reply: own, difference }: Compared = comparePart(part, replied, world, observed, step.hasHeaders);
  if (difference !== undefined || own === undefined) return `${meant.method} ${JSON.stringify(meant)}: ${difference}`;
  world.reach("batchPart");
  changes(own);
  stage.coverage.count(replied.operation?.name, isFailure(own) ? own.error : undefined);
  noteNodes(world, ever);
  outcomes.push({ isDone: reply.code === 200, body: reply.body === "" ? undefined : observed.body });
  return undefined;
}

function noteNotation({ reach }: World, part: BatchPart): void {
  const { step, references, nodeOf, headers, tag } = part;
  const refers = referencesOf(part).length > 0;
  if (refers) reach(references === "bare" ? "batchReference" : "batchEncodedReference");
  if (refers && nodeOf === undefined) reach("batchReferenceInValue");
  if (Object.keys(step.headers ?? {}).length > 0 || tag !== undefined) reach(headers === "list" ? "batchHeaderLines" : "batchHeaderObject");
}

/**
 * Compares the response to one request of the batch to the model's response. A response to HEAD has no body, nor has a response that the client
 * already has.
 */
function comparePart(
  { isHead, tag }: BatchPart,
  replied: ReturnType<typeof replyTo>,
  { profile, reach }: World,
  observed: Received,
  hasHeaders: boolean,
): Compared {
  if (tag === "any" && replied.replies.some((reply) => !isFailure(reply)) && observed.status === 304) {
    reach("batchTag");
    return observed.body === ""
      ? { reply: replied.replies.find((reply) => !isFailure(reply)), difference: undefined }
      : { reply: undefined, difference: "the response has status 304 and a body" };
  }
  if (!isHead) return compare(replied, profile, observed, hasHeaders);
  reach("batchHead");
  return observed.body === "" ? compareStatus(replied, observed) : { reply: undefined, difference: "a HEAD has a body" };
}

function receivedOf(reply: PartReply | null): Received {
  if (reply === null) return { status: 0, headers: {}, body: undefined };
  const body = reply.body === "" ? "" : (JSON.parse(reply.body) as { readonly pftrace_id?: string });
  // Without headers, the response has no second trace id to which the trace id of an error could be compared.
  const all = reply.headers ?? (body === "" ? [] : [{ name: "X-PF-Trace-Id", value: body.pftrace_id ?? traceIdIn(body) }]);
  return { status: reply.code, headers: Object.fromEntries(all.map(({ name, value }) => [name.toLowerCase(), value])), body };
}

const traceIdIn = (body: unknown): string => String((body as { readonly error?: { readonly pftrace_id?: string } }).error?.pftrace_id);
