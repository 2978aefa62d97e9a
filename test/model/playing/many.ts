/** Reads several nodes in one request: the response is an object with the response for each id, or the first response that fails (D-34, D-39). */
import type { ManyStep } from "../histories/steps.ts";
import { EDGES } from "../reference/all-operations.ts";
import { credentialsOf } from "../reference/credentials.ts";
import { type Failure, failure } from "../reference/errors.ts";
import { readPath, versionIn } from "../reference/paths.ts";
import { bothForms, PAGE_MESSAGING_EDGES } from "../reference/refusals.ts";
import { isFailure } from "../reference/replies.ts";
import { replyTo, toUnknownPath } from "../reference/reply.ts";
import type { GraphRequest } from "../reference/requests.ts";
import { countingVersion, isPlatformVersion } from "../reference/versions.ts";
import { compare } from "./compare.ts";
import { type Filling, idOf, resolve } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";
import { type Received, send } from "./send.ts";

export async function askForMany(stage: Stage, { world, place }: Scene, { step, nodes }: ManyStep, filling: Filling): Promise<string | undefined> {
  const address = stage.servers.address(place, "base");
  const ids = [...new Set(nodes.map((name) => idOf(filling.ever, name)))];
  const single = (id: string): GraphRequest => resolve({ ...step, node: { id } }, world, filling);
  const { path: _, ...alike } = single(ids[0] as string);
  const path = ["", step.version, step.edge].filter((segment) => segment !== null && segment !== "").join("/") || "/";
  const whole: GraphRequest = { ...alike, path: path.startsWith("/") ? path : `/${path}`, query: [["ids", ids.join(",")], ...alike.query] };
  const received = await send(address, whole);
  const difference = leadsNowhere(world, whole, step)
    ? compare(toUnknownPath(world, whole), world.profile, received).difference
    : isAnybody(world, whole)
      ? differenceOfMany(
          ids.map((id) => [id, { ...alike, path: single(id).path }]),
          { world, address, received, ofTokens: tokenProblems(world, whole, step.edge) },
        )
      : compare({ operation: undefined, replies: refusals(world, whole, step.edge), version: undefined }, world.profile, received).difference;
  return difference === undefined ? undefined : `GET ${JSON.stringify(whole)}: ${received.status} ${JSON.stringify(received.body)}\n  ${difference}`;
}

/** D-20: whether the edge or the version is unknown; the server refuses such a request before it reads any node. */
function leadsNowhere(world: Scene["world"], whole: GraphRequest, { version, edge }: ManyStep["step"]): boolean {
  const asked = countingVersion(world, versionIn(whole));
  const isVersion = asked === undefined ? version === null || version === "" : isPlatformVersion(asked);
  return !isVersion || (edge !== "" && !EDGES.has(edge));
}

const isAnybody = (world: Scene["world"], whole: GraphRequest): boolean => credentialsOf(world, whole).some(({ problem }) => problem === undefined);

/**
 * D-90: the refusals of a request by a caller without a valid token, who learns nothing about ids. If the path has neither an edge nor an id, the
 * error has the wrapped form.
 */
function refusals(world: Scene["world"], whole: GraphRequest, edge: string): Failure[] {
  const form = formOf(edge);
  return [...bothForms("unknownPath"), failure(form, "tokenMissing"), failure(form, "invalidParameter"), ...tokenProblems(world, whole, edge)];
}

const formOf = (edge: string) => (PAGE_MESSAGING_EDGES.has(edge) ? "flat" : "wrapped");

const tokenProblems = (world: Scene["world"], whole: GraphRequest, edge: string): Failure[] =>
  credentialsOf(world, whole).flatMap(({ problem }) => (problem === undefined ? [] : [failure(formOf(edge), problem)]));

interface Asked {
  readonly world: Scene["world"];
  readonly address: string;
  readonly received: Received;
  readonly ofTokens: readonly Failure[];
}

function differenceOfMany(requests: readonly (readonly [string, GraphRequest])[], { world, address, received, ofTokens }: Asked): string | undefined {
  const bodies = received.body as Readonly<Record<string, unknown>>;
  const isWhole = received.status === 200;
  for (const [id, request] of requests) {
    const part: Received = isWhole ? { ...received, body: bodies[id] } : received;
    const replied = replyTo(world, request, address, part);
    // No decision says whether the error names an invalid token or an invalid id.
    const others = !isWhole && readPath(request) === undefined ? ofTokens : [];
    const replies = [...replied.replies, ...others];
    const { difference, reply } = compare({ ...replied, replies, version: undefined }, world.profile, part);
    if (isWhole && difference !== undefined) return `${id}: ${difference}`;
    if (isWhole) continue;
    // If a read fails, the response to the first failed read becomes the response to the whole request.
    if (reply !== undefined && isFailure(reply)) {
      world.reach("manyFail");
      return difference;
    }
    if (replied.replies.every(isFailure)) return `${id}: ${difference}`;
  }
  if (!isWhole) return "each of the reads would succeed by itself";
  world.reach("many");
  return Object.keys(bodies).length === requests.length ? undefined : "the response has other nodes than those that were requested";
}
