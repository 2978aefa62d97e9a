/** Returns all replies that the interface allows for a request. The model changes its state as the first of the possible replies requires. */
import { EDGES, operations } from "./all-operations.ts";
import { worksForAccount } from "./areas/chatapp.ts";
import { credentialsOf, inPlaces, lacksProof, placesOf, problemsOfPlaces } from "./credentials.ts";
import { type Failure, type Form, failure } from "./errors.ts";
import type { Token } from "./nodes.ts";
import { failIn, type Operation, type Turn } from "./operations.ts";
import { type Address, edgeIn, isId, readPath, servedBy, versionIn } from "./paths.ts";
import { bothForms, deadOnes, isDataOver, isOfServedKind, lacks, missingNode, PAGE_MESSAGING_EDGES, withoutToken } from "./refusals.ts";
import { Hole, isFailure, type Reply } from "./replies.ts";
import { defectOf, type GraphRequest, inQuery } from "./requests.ts";
import {
  countingVersion,
  currentMarketingVersion,
  defaultVersion,
  isOverrideWrong,
  isPlatformVersion,
  type MarketingVersion,
  marketingVersion,
  NEWEST,
} from "./versions.ts";
import { mayKnowOf } from "./visibility.ts";
import { itemsOf, nodeTypeOf, type World } from "./world.ts";

/** The values in the server's response that the model needs, such as new ids. */
export interface Observed {
  readonly body: unknown;
}

type Defect = ReturnType<typeof defectOf>;

export interface Replied {
  readonly operation: Operation | undefined;
  readonly replies: readonly Reply[];
  /** D-83: the version that serves the request; undefined if the decision does not say which one does. */
  readonly version: string | undefined;
  /** D-83: the version that the response names if the request is refused before a version serves it; only set if this version differs. */
  readonly unserved?: string;
}

/**
 * D-20: the form of errors as far as it depends on the path alone. If the path names no edge, the form depends on whether there is an `oauth_token`,
 * valid or not.
 */
export function formOfPath(request: GraphRequest): Form {
  const edge = edgeIn(request, EDGES);
  const isFlat = edge === undefined ? inQuery(request, "oauth_token") !== undefined : PAGE_MESSAGING_EDGES.has(edge);
  return isFlat ? "flat" : "wrapped";
}

/** D-83: the version that the response names if the request is refused before its version is chosen. */
function versionOfAddress(world: World, request: GraphRequest): string {
  const asked = countingVersion(world, versionIn(request));
  return servedBy(request, asked !== undefined && isPlatformVersion(asked) ? asked : NEWEST);
}

export function toUnknownPath(world: World, request: GraphRequest): Replied {
  world.reach("version");
  return { operation: undefined, replies: [failure(formOfPath(request), "unknownPath")], version: versionOfAddress(world, request) };
}

/**
 * D-240: the refusal of a request from the page of another site, whatever the request asks for. If the edge is unknown, the form of the error depends
 * on the tokens (D-20).
 */
function toForeignPage(world: World, request: GraphRequest): Replied {
  world.reach("foreignPage");
  const { edge = "" } = readPath(request) ?? {};
  const replies = edge === "" || EDGES.has(edge) ? [failure(formOfPath(request), "foreignPage")] : bothForms("foreignPage");
  return { operation: undefined, replies, version: versionOfAddress(world, request) };
}

function nodeOf(world: World, { id }: Address, [token]: readonly Token[]): string {
  if (id !== "me" || token === undefined) return id;
  world.reach("me");
  const { type, app, user, page, social_account, microblog_user } = token;
  return { app, user, system_user: user, page, social_user: social_account, microblog_user }[type] ?? id;
}

/** The type of the node. The empty id means that the path names no node. */
const typeOf = (world: World, node: string) => (node === "" ? "nothing" : nodeTypeOf(world, node));

const knowsOf = (world: World, token: Token, node: string, operation: Operation | undefined): boolean =>
  node === "" || (operation?.knows ?? mayKnowOf)(world, token, node);

/**
 * D-305 [clients]: whether the request subscribes its app to the account: the app is not subscribed yet, and its person works for the account's
 * business.
 */
const subscribesItself = (world: World, { surface }: GraphRequest, token: Token, node: string, operation: Operation | undefined): boolean =>
  world.profile === "clients" && surface === "base" && operation?.name === "setAccountOverride" && worksForAccount(world, token, node);

/** The fields in the responses to writes by these callers, if the request selects no fields. */
const OF_WRITES: ReadonlySet<string> = new Set(["id", "name", "page_label_name", "success", "stream_url", "stream_key"]);

/** D-11: the reply to a write, without stored data, whatever the request selects. */
function withoutStored(reply: Reply): Reply {
  if (isFailure(reply) || typeof reply.body !== "object" || reply.body === null || !("id" in reply.body)) return reply;
  const { id } = reply.body;
  const hole = new Hole("the id, and nothing that was stored before", (actual) => {
    const shown = actual as Readonly<Record<string, unknown>>;
    return shown.id === id && Object.keys(shown).every((name) => OF_WRITES.has(name)) ? undefined : `${JSON.stringify(actual)} is not that`;
  });
  return { ...reply, body: hole };
}

function observedText({ body }: Observed, name: string): string | undefined {
  const text = (typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>) : {})[name];
  return typeof text === "string" && text !== "" ? text : undefined;
}

function mintOf(world: World, observed: Observed): string {
  const id = observedText(observed, "id");
  if (id === undefined || !isId(id) || world.idsSeen.has(id) || BigInt(id) <= world.lastMinted)
    return "an id that is new, and larger than those before";
  world.idsSeen.add(id);
  world.lastMinted = BigInt(id);
  return id;
}

function repliesOf(world: World, request: GraphRequest, address: string, observed: Observed, defect: Defect): Replied {
  const read = readPath(request);
  const version = countingVersion(world, read?.version);
  const path = read && { ...read, version };
  if (path === undefined || (version !== undefined && !isPlatformVersion(version))) return toUnknownPath(world, request);
  const unserved = servedBy(request, version ?? NEWEST);
  const atEdge = operations.filter(({ edge, surfaces }) => edge === path.edge && surfaces.includes(request.surface));
  if (atEdge.length === 0) {
    world.reach("unsupported");
    const ofPath = path.id === "" ? (["unknownPath", "unsupportedRequest"] as const) : (["unsupportedRequest"] as const);
    const refusals = [...ofPath, ...(["tokenMissing", "tokenInvalid", "tokenExpired", "tokenRevoked"] as const)].flatMap(bothForms);
    return { operation: undefined, replies: refusals, version: unserved };
  }
  const schemes = path.edge === "" ? [] : atEdge.map(({ scheme }) => scheme);
  // D-93: a token in a place that counts only for some apps still decides what the caller may know.
  const given = credentialsOf(world, request).filter(({ place }) => placesOf(world, schemes).has(place));
  const live = given.flatMap(({ token, problem }) => (problem === undefined && token !== undefined ? [token] : []));
  const isOneApp = new Set(live.map(({ app }) => app)).size === 1;
  const served = version ?? (live[0] === undefined ? NEWEST : defaultVersion(world, live[0].app));
  if (live.length === 0) return { operation: undefined, replies: withoutToken(world, request, path, given, schemes[0]), version: unserved };
  if (version === undefined) world.reach("defaultVersion");
  const node = nodeOf(world, path, live);
  if (request.body?.kind === "multipart") world.reach("multipart");
  const operation = atEdge.find(({ on, method }) => on === typeOf(world, node) && method === request.method);
  const missing = missingNode(world, request, path);
  if (itemsOf(world).includes(node)) world.reach("itemAddress");
  const problems = deadOnes(world, request, path, given, schemes);
  const isStranger = !live.some((token) => knowsOf(world, token, node, operation) || subscribesItself(world, request, token, node, operation));
  const marketing = operation && marketingOf(world, operation, live[0]?.app ?? "", version);
  // If the node types that have the edge expect tokens in different places, the endpoint determines which places count.
  if (problems.length > 0 && new Set(schemes).size === 1) {
    // No decision says whether the error names the token, a refused version, or a missing node.
    const ofVersion = operation?.marketing !== undefined && marketing === undefined ? bothForms("versionDeprecated") : [];
    const mayBeStranger =
      isStranger ||
      operation === undefined ||
      operation.isThere?.(world, node) === false ||
      !live.some((token) => isOfServedKind(world, operation, token));
    const refusals = [...problems, ...(mayBeStranger ? [missing] : ofVersion)];
    // No decision says whether the server refuses the token before or after it chooses the version.
    return { operation, replies: refusals, version: version === undefined || marketing !== undefined ? undefined : unserved };
  }
  if (isStranger) {
    world.reach("hidden");
    return { operation, replies: [missing, ...problems], version: unserved };
  }
  if (operation === undefined) {
    world.reach("unsupported");
    return { operation, replies: [missing, ...bothForms("unsupportedRequest"), ...problems], version: unserved };
  }
  const isOtherVersion = operation.versions?.includes(path.version ?? "") === false;
  // No decision says whether the error names the version or another problem.
  const ofVersion = isOtherVersion ? [failIn(operation.form)("unknownPath")] : [];
  const known = { world, request, operation, node, address, observed, missing, defect, marketing, isOtherVersion, app: live[0]?.app ?? "" };
  return {
    operation,
    replies: [...repliesToKnownCaller(known), ...ofVersion],
    // No decision says which app counts if the tokens belong to several apps.
    version: isOneApp || (version !== undefined && marketing === undefined) ? servedBy(request, marketing?.served ?? served) : undefined,
    unserved,
  };
}

/** The marketing version; undefined if the endpoint has no marketing versions, or does not serve this version. */
function marketingOf(world: World, operation: Operation, app: string, asked: string | undefined): MarketingVersion | undefined {
  const { marketing } = operation;
  if (marketing === undefined) return undefined;
  return marketingVersion(world, app, asked ?? (marketing === "or current" ? currentMarketingVersion(world) : undefined), operation);
}

/** D-81. */
function withWarning(reply: Reply, { served, upgradedFrom }: MarketingVersion): Reply {
  if (isFailure(reply) || upgradedFrom === undefined) return reply;
  const warning = `The call has been auto-upgraded to v${served} as v${upgradedFrom} has been deprecated`;
  return { ...reply, headers: { "x-ad-api-version-warning": warning } };
}

interface Known {
  readonly world: World;
  readonly request: GraphRequest;
  readonly operation: Operation;
  readonly node: string;
  readonly address: string;
  readonly observed: Observed;
  readonly missing: Failure;
  /** The defect of the request, if it has one. A request with a defect changes nothing. */
  readonly defect: Defect;
  readonly marketing: MarketingVersion | undefined;
  readonly isOtherVersion: boolean;
  /** The app of the first valid token. */
  readonly app: string;
}

/** D-124: records the app's first use of the marketing API. Requests that pass the authorization are counted, whatever their parameters. */
function noteMarketingUse({ apps, now, reach }: World, id: string): void {
  const app = apps.get(id);
  if (app === undefined || app.marketing_first_used_time !== undefined) return;
  app.marketing_first_used_time = now;
  reach("marketingFirstUse");
}

/** The possible replies to a caller who may know that the node exists. */
function repliesToKnownCaller({
  world,
  request,
  operation,
  node,
  address,
  observed,
  missing,
  defect,
  marketing,
  isOtherVersion,
  app,
}: Known): readonly Reply[] {
  const fail = failIn(operation.form);
  const given = inPlaces(world, operation.scheme, credentialsOf(world, request));
  const problems = problemsOfPlaces(world, operation.scheme, given).map((error) => fail(error));
  const tokens = given.flatMap(({ token }) => (token === undefined ? [] : [token]));
  // If several tokens lack different rights, no decision says which is reported first.
  const stranger = tokens.some((token) => !knowsOf(world, token, node, operation) && !subscribesItself(world, request, token, node, operation))
    ? [missing, fail("taskMissing"), fail("tokenInvalid")]
    : [];
  if (operation.isThere?.(world, node) === false) return [missing, ...problems];
  const ofProof = lacksProof(world, request, tokens) ? [fail("invalidParameter", { parameter: "appsecret_proof" })] : [];
  const lacking = [...lacks(world, operation, tokens, node).map((error) => fail(error)), ...ofProof];
  if (operation.marketing !== undefined && marketing === undefined) {
    world.reach("marketingRefused");
    return [fail("versionDeprecated"), ...problems, ...stranger, ...lacking];
  }
  if (stranger.length > 0 || (problems.length > 0 && new Set(tokens).size > 1)) return [...problems, ...stranger, ...lacking];
  if (problems.length > 0) return problems;
  // D-16: a token of a type that the operation does not serve may get this error, or the response of a stranger.
  if (lacking.some(({ error }) => error === "tokenInvalid")) return [...lacking, missing];
  if (lacking.length > 0 && !tokens.every((token) => knowsOf(world, token, node, operation))) return [...lacking, missing];
  if (lacking.length > 0) return lacking;
  const [first, ...rest] = tokens;
  if (first === undefined) return [fail("tokenMissing")];
  if (defect !== undefined) return [fail(defect)];
  if (operation.marketing !== undefined) noteMarketingUse(world, app);
  if (isOverrideWrong(world, request)) {
    world.reach("badMigrationsOverride");
    return [fail("invalidParameter")];
  }
  if (isOtherVersion) {
    world.reach("intentVersion");
    return [fail("unknownPath")];
  }
  const turn: Turn = {
    world,
    request,
    operation,
    node,
    address,
    fail,
    tokens: [first, ...rest],
    mint: () => mintOf(world, observed),
    observedId: () => observedText(observed, "id"),
    observed: (name) => observedText(observed, name),
  };
  const plain: readonly Reply[] = [operation.reply(turn)].flat();
  if (marketing?.upgradedFrom !== undefined) world.reach("marketingUpgraded");
  const replies = marketing === undefined ? plain : plain.map((one) => withWarning(one, marketing));
  return tokens.some((token) => isDataOver(world, token)) ? replies.map(withoutStored) : replies;
}

/** All possible replies to a request. `address` is the URL of the world on the API of the request. */
export function replyTo(world: World, request: GraphRequest, address: string, observed: Observed): Replied {
  if (request.headers.origin !== undefined) return toForeignPage(world, request);
  const defect = defectOf(request);
  const { body: _, ...withoutBody } = request;
  // The server does not read a request body that is too large, so the body's parameters do not count.
  const replied = repliesOf(world, defect === "bodyTooLarge" ? withoutBody : request, address, observed, defect);
  if (defect === undefined) return replied;
  if (defect === "invalidParameter") world.reach("badText");
  // No decision says whether the server reports the defect or another problem first.
  return { ...replied, replies: [...replied.replies, ...bothForms(defect)] };
}
