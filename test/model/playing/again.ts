/** Repeats a read with the entity tag of an earlier response: if nothing has changed, the response has no body (D-34). */
import type { AgainStep } from "../histories/steps.ts";
import { isFailure } from "../reference/replies.ts";
import { replyTo } from "../reference/reply.ts";
import { compare } from "./compare.ts";
import type { Scene, Stage } from "./scene.ts";
import { type Received, send } from "./send.ts";

const tagOf = (how: AgainStep["tag"], tag: string): string =>
  ({ same: tag, weak: `W/${tag}`, "one of two": `"other", ${tag}`, any: "*", another: '"other"' })[how];

export async function askAgain({ servers }: Stage, scene: Scene, { tag: how }: AgainStep): Promise<string | undefined> {
  const { last, world } = scene;
  if (last === undefined) return undefined;
  const { request, etag, body } = last;
  const address = servers.address(scene.place, request.surface);
  const received = await send(address, { ...request, headers: { ...request.headers, "if-none-match": tagOf(how, etag) } });
  const { status, headers } = received;
  const isSame = status === 304;
  // The response has no body, so the body that the caller has from earlier must equal the body that the server would send now.
  const meant: Received = isSame ? { status: 200, headers: { ...headers, "content-type": "application/json; charset=UTF-8" }, body } : received;
  const inWords = (difference: string): string =>
    `${request.method} ${address}${request.path} again (${world.profile}): ${JSON.stringify(request)}, tag ${tagOf(how, etag)}: ${status}\n  ${difference}`;
  if (isSame && received.body !== "") return inWords("the response has a body and status 304");
  if (isSame && how === "another") return inWords("the entity tag is not one of the tags that were sent");
  // With `*` the node must exist, but its body may differ: a world that was moved has other cursors.
  if (isSame && how === "any")
    return replyTo(world, request, address, meant).replies.every(isFailure) ? inWords("the request should be refused") : undefined;
  const { difference } = compare(replyTo(world, request, address, meant), world.profile, meant);
  if (difference !== undefined) return inWords(difference);
  if (status === 200 && how !== "another" && headers.etag === etag) return inWords("the entity tag is the same, but the response has a body");
  if (status === 200 && (headers.etag === etag) !== (JSON.stringify(received.body) === JSON.stringify(body)))
    return inWords("the entity tag does not change with the body");
  if (isSame) world.reach("sameTag");
  else if (headers.etag !== etag) world.reach("otherTag");
  return undefined;
}
