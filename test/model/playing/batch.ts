/** A batch: its requests are sent together, and each reply is the model's to that request alone, in their order (D-34). */
import type { BatchPart, BatchStep } from "../histories/steps.ts";
import { credentialsOf } from "../reference/credentials.ts";
import { failure } from "../reference/errors.ts";
import { isFailure } from "../reference/replies.ts";
import { replyTo } from "../reference/reply.ts";
import type { GraphRequest } from "../reference/requests.ts";
import type { World } from "../reference/world.ts";
import { changesFact } from "./ask.ts";
import { compare } from "./compare.ts";
import { type Filling, noteNodes, provenBy, resolve } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";
import { type Received, send } from "./send.ts";

interface PartReply {
  readonly code: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

/** What became of a part, for those that refer to it. */
interface Outcome {
  readonly isDone: boolean;
  readonly id: string | undefined;
}

export async function askInBatch(stage: Stage, scene: Scene, given: BatchStep, filling: Filling): Promise<string | undefined> {
  const step: BatchStep = { ...given, token: filling.copies.get(given.token) ?? given.token };
  const { world } = scene;
  const address = stage.servers.address(scene.place, "base");
  const requests = step.parts.map((part) => resolve(part.step, world, filling));
  const batch = step.parts.map((part, place) => writtenPart(step, part, requests[place] as GraphRequest, place));
  const { ofQuery, ofBody } = proofsOf(world, step);
  const whole: GraphRequest = {
    ...{ method: "POST", surface: "base", path: `/${step.version ?? ""}` },
    query: [...["access_token", "oauth_token"].map((name): [string, string] => [name, step.token]), ...Object.entries(ofQuery)],
    body: { kind: "form", fields: { batch: JSON.stringify(batch), ...ofBody } },
    headers: { authorization: `Bearer ${step.token}` },
  };
  const received = await send(address, whole);
  const dead = credentialsOf(world, whole)[0]?.problem;
  if (dead !== undefined) {
    const refused = { operation: undefined, replies: [failure("wrapped", dead)], version: undefined };
    return inWords(compare(refused, world.profile, received).difference, whole, received);
  }
  const replies = received.body as readonly (PartReply | null)[];
  if (received.status !== 200 || !Array.isArray(replies) || replies.length !== batch.length)
    return inWords("it is no list of as many replies", whole, received);
  const outcomes: Outcome[] = [];
  for (const [place, part] of step.parts.entries()) {
    const problem = takePart(stage, scene, {
      step,
      part,
      outcomes,
      address,
      request: requests[place] as GraphRequest,
      reply: replies[place] ?? null,
    });
    if (problem !== undefined) return inWords(`part ${place}: ${problem}`, whole, received);
  }
  return undefined;
}

const inWords = (difference: string | undefined, whole: GraphRequest, { body }: Received): string | undefined =>
  difference === undefined ? undefined : `a batch ${JSON.stringify(whole)}: ${JSON.stringify(body)}\n  ${difference}`;

/** What proves the token of a batch serves for all its parts, in the place where it stands. */
function proofsOf(world: World, { token, proof }: BatchStep): Record<"ofQuery" | "ofBody", Readonly<Record<string, string>>> {
  const pair = provenBy(world, token, proof);
  return proof?.place === "body" ? { ofQuery: {}, ofBody: pair } : { ofQuery: pair, ofBody: {} };
}

const queryOf = (pairs: GraphRequest["query"]): string =>
  new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();

/** `{version}/{node}/{edge}`, with another part's id in the place of the node. */
function pathOf({ step, nodeOf }: BatchPart, request: GraphRequest, id: string): string {
  if (nodeOf === undefined) return request.path;
  return ["", step.version, id, step.edge]
    .filter((segment) => segment !== null && segment !== "")
    .join("/")
    .replace(/^(?!\/)/, "/");
}

const isReferredTo = (parts: readonly BatchPart[], place: number): boolean =>
  parts.some(({ dependsOn, nodeOf }) => dependsOn === place || nodeOf === place);

function writtenPart({ parts }: BatchStep, part: BatchPart, request: GraphRequest, place: number): Record<string, unknown> {
  const { dependsOn, nodeOf, isOmitted } = part;
  const path = pathOf(part, request, `{result=p${nodeOf}:$.id}`).slice(1);
  const query = queryOf(request.query);
  return {
    ...{ method: request.method, relative_url: query === "" ? path : `${path}?${query}` },
    ...(request.body === undefined ? {} : { body: queryOf(Object.entries(request.body.fields as Record<string, string>)) }),
    ...(isReferredTo(parts, place) ? { name: `p${place}`, omit_response_on_success: isOmitted } : {}),
    ...(dependsOn === undefined ? {} : { depends_on: `p${dependsOn}` }),
  };
}

interface Taken {
  readonly step: BatchStep;
  readonly part: BatchPart;
  readonly outcomes: Outcome[];
  readonly address: string;
  readonly request: GraphRequest;
  readonly reply: PartReply | null;
}

function takePart(
  { coverage, servers }: Stage,
  { world, ever, place: name }: Scene,
  { step, part, outcomes, address, request, reply }: Taken,
): string | undefined {
  const { dependsOn, nodeOf, isOmitted } = part;
  const place = outcomes.length;
  const needed = [dependsOn, nodeOf].flatMap((one) => (one === undefined ? [] : [outcomes[one] as Outcome]));
  if (needed.some(({ isDone }) => !isDone)) {
    world.reach("batchSkipped");
    outcomes.push({ isDone: false, id: undefined });
    return reply === null ? undefined : "it needs one that failed, and was run";
  }
  const id = nodeOf === undefined ? undefined : outcomes[nodeOf]?.id;
  if (id !== undefined) world.reach("batchReference");
  const path = pathOf(part, request, id ?? "");
  const { ofQuery, ofBody } = proofsOf(world, step);
  const meant: GraphRequest = {
    ...request,
    path: part.step.version === null && step.version !== null ? `/${step.version}${path}` : path,
    query: [...request.query, ["access_token", step.token], ["oauth_token", step.token], ...Object.entries(ofQuery)],
    body: { kind: "form", fields: { ...request.body?.fields, ...ofBody } },
    headers: { ...request.headers, authorization: `Bearer ${step.token}` },
  };
  const observed = receivedOf(reply);
  const replied = replyTo(world, meant, address, observed);
  const [first] = replied.replies;
  if (isOmitted && isReferredTo(step.parts, place) && first !== undefined && !isFailure(first)) {
    world.reach("batchOmitted");
    if (changesFact(replied.operation, first)) servers.noteFact(name);
    outcomes.push({ isDone: true, id: (first.body as { id?: string }).id });
    return reply === null ? undefined : "its response should be omitted";
  }
  if (reply === null) return "it was not run, or its response is omitted";
  const { reply: own, difference } = compare(replied, world.profile, observed);
  if (difference !== undefined || own === undefined) return `${meant.method} ${meant.path}: ${difference}`;
  world.reach("batchPart");
  if (changesFact(replied.operation, own)) servers.noteFact(name);
  coverage.count(replied.operation?.name, isFailure(own) ? own.error : undefined);
  noteNodes(world, ever);
  outcomes.push({ isDone: !isFailure(own), id: (observed.body as { id?: string } | undefined)?.id });
  return undefined;
}

function receivedOf(reply: PartReply | null): Received {
  if (reply === null) return { status: 0, headers: {}, body: undefined };
  const headers = Object.fromEntries(reply.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  return { status: reply.code, headers, body: JSON.parse(reply.body) };
}
