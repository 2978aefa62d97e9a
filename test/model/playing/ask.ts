/** Sends a request, and compares the response to the model's. */
import type { RequestStep } from "../histories/steps.ts";
import { operations } from "../reference/all-operations.ts";
import { isAnythingDue } from "../reference/areas/live-states.ts";
import type { Operation } from "../reference/operations.ts";
import { readPath } from "../reference/paths.ts";
import { isFailure, type Reply } from "../reference/replies.ts";
import { replyTo } from "../reference/reply.ts";
import type { GraphRequest } from "../reference/requests.ts";
import type { World } from "../reference/world.ts";
import { letTimePass } from "./changes/change-video.ts";
import { finishUpload } from "./changes/fill-feed.ts";
import { compare } from "./compare.ts";
import { type Filling, noteNodes } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";
import { type Received, send } from "./send.ts";

/** Operations that change the route of webhooks. */
const REROUTING: ReadonlySet<string> = new Set([
  "setAccountOverride",
  "setNumberOverride",
  "unsubscribeApp",
  "subscribeApp",
  "endSubscription",
  "subscribeToPage",
  "unsubscribeFromPage",
]);

/** Operations that change apps with their subscriptions and migrations, alternate callbacks, or the apps that are subscribed to an account. */
const CHANGING: ReadonlySet<string> = new Set([
  ...["updateApp", "subscribeApp", "endSubscription"],
  ...["setAccountOverride", "setNumberOverride", "unsubscribeApp"],
]);

/**
 * Whether the response means that the request changed a cached fact. The server caches nodes, so a deletion changes a cached fact. A creation changes
 * no cached fact, because the absence of a node is never cached. Refused requests change no cached fact, nor do changes of data that the server reads
 * from the database each time.
 */
export const changesFact = (operation: Operation | undefined, reply: Reply | undefined): boolean =>
  operation !== undefined &&
  reply !== undefined &&
  !isFailure(reply) &&
  (CHANGING.has(operation.name) || (operation.method === "DELETE" && operation.edge === ""));

export const fillingOf = ({ ledger }: Stage, { world, ever, copies }: Scene): Filling => ({
  ...{ ever, copies, callback: (name) => ledger.callback(world.name, name), file: (rows) => ledger.file(rows) },
});

export async function follow(stage: Stage, scene: Scene, which: "next" | "previous"): Promise<string | undefined> {
  const { links } = scene;
  const link = links?.[which];
  if (links === undefined || link === undefined) return undefined;
  const { body: _, ...request } = links.request;
  return ask(stage, scene, undefined, { ...request, method: "GET", query: [...new URL(link).searchParams] });
}

export async function ask(stage: Stage, scene: Scene, step: RequestStep | undefined, request: GraphRequest): Promise<string | undefined> {
  const { servers, ledger } = stage;
  const { world } = scene;
  // The server chooses the route of a delivery when it sends the delivery, so the waiting deliveries must arrive first.
  const missing = REROUTING.has(step?.operation ?? "") ? await ledger.settle(world) : undefined;
  if (missing !== undefined) return missing;
  const address = servers.address(scene.place, request.surface);
  // D-50: the endpoint of required actions refuses parameters of other operations.
  if (step?.verb === "parameter" && request.surface !== "app" && ["GET", "POST", "DELETE"].includes(request.method)) {
    world.reach("verbParameter");
    const named: GraphRequest = { ...request, query: [...request.query, ["method", request.method.toLowerCase()]] };
    const received = await send(address, { ...named, method: "POST" });
    return takeResponse(stage, scene, step, { address, request: named, received });
  }
  const received = await send(address, request);
  const difference = await takeResponse(stage, scene, step, { address, request, received });
  if (difference === undefined && step?.verb === "options") return askForOptions(world, address, request);
  const isAgain = difference === undefined && step?.verb === "head" && request.method === "GET" && request.body === undefined;
  return isAgain ? askForHead(world, { address, request, received }) : difference;
}

/** D-04: sends OPTIONS. The allowed methods depend only on the form of the address, not on the node and the caller. */
async function askForOptions({ reach }: World, address: string, request: GraphRequest): Promise<string | undefined> {
  const path = readPath(request);
  if (path === undefined) return undefined;
  const { body: _, ...asked } = request;
  const { headers } = await send(address, { ...asked, method: "OPTIONS" });
  reach("options");
  const methods = operations.filter(({ edge, surfaces }) => edge === path.edge && surfaces.includes(request.surface)).map(({ method }) => method);
  const expected = [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].sort().join();
  const actual = (headers.allow ?? "").split(", ").sort().join();
  return actual === expected ? undefined : `OPTIONS ${request.path} (${request.surface}) allows ${actual}, not ${expected}`;
}

/** D-04: sends HEAD, which returns the response of GET without the body. */
async function askForHead({ reach }: World, { address, request, received }: Exchange): Promise<string | undefined> {
  const { status, headers, body } = await send(address, { ...request, method: "HEAD" });
  reach("head");
  if (status !== received.status || body !== "") return `HEAD ${request.path} is ${status} with ${JSON.stringify(body)}, GET was ${received.status}`;
  const other = ["content-type", "etag", "pf-api-version"].find((name) => headers[name] !== received.headers[name]);
  return other === undefined ? undefined : `HEAD ${request.path} has the ${other} ${headers[other]}, GET had ${received.headers[other]}`;
}

interface Exchange {
  /** The URL of the world on the API of the graph that the request belongs to. */
  readonly address: string;
  readonly request: GraphRequest;
  readonly received: Received;
}

export async function takeResponse(
  stage: Stage,
  scene: Scene,
  step: RequestStep | undefined,
  { address, request, received }: Exchange,
): Promise<string | undefined> {
  const { servers, coverage } = stage;
  const { world, ever } = scene;
  const replied = replyTo(world, request, address, received);
  const { reply, difference } = compare(replied, world.profile, received);
  if (difference !== undefined) {
    return `${request.method} ${address}${request.path} (${step?.operation ?? "a link"}, ${world.profile}): ${JSON.stringify(request)}\n  ${difference}`;
  }
  if (changesFact(replied.operation, reply)) servers.noteFact(scene.place);
  if (isAnythingDue(world)) await letTimePass(servers, scene);
  const unread = await readFile(stage, scene);
  if (unread !== undefined) return unread;
  if (reply !== undefined) coverage.count(replied.operation?.name, isFailure(reply) ? reply.error : undefined);
  noteNodes(world, ever);
  noteLinks(scene, request, received);
  const { etag } = received.headers;
  const isRead = request.method === "GET" && step?.verb !== "parameter";
  if (isRead && received.status === 200 && etag === undefined) return `${request.path}: a response without an entity tag`;
  if (isRead && received.status === 200 && etag !== undefined) scene.last = { request, etag, body: received.body };
  return undefined;
}

/** Waits until the server has read a file that was sent to a feed, before the history goes on. */
async function readFile(stage: Stage, scene: Scene): Promise<string | undefined> {
  const { reading } = scene.world;
  if (reading === undefined) return undefined;
  scene.world.reading = undefined;
  return finishUpload(stage, scene, reading);
}

function noteLinks(scene: Scene, request: GraphRequest, { body }: Received): void {
  const { paging } = (typeof body === "object" && body !== null ? body : {}) as { paging?: { next?: string; previous?: string } };
  if (paging?.next === undefined && paging?.previous === undefined) return;
  const { next, previous } = paging;
  scene.links = { request, ...(next === undefined ? {} : { next }), ...(previous === undefined ? {} : { previous }) };
}
