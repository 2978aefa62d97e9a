/** A callback on loopback: passes handshakes, responds to POSTs as the test says, and records the POSTs. */
import { afterThisTest } from "./cleanup.ts";

interface Post {
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The request body exactly as it was sent. */
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any body.
  readonly json: any;
  /** The payloads of the webhook, in their order. */
  readonly values: unknown[];
}

export interface Receiver {
  readonly url: string;
  /** The handshakes that the callback got: mode and verify token. */
  readonly handshakes: { mode: string | null; verifyToken: string | null }[];
  readonly posts: Post[];
  /** The function responds to a POST, with status 200 by default. `count` is the number of POSTs so far. */
  response: (post: Post, count: number) => Response | Promise<Response>;
}

/** Starts the callback. `handshake` makes the response to a handshake; by default, this is the challenge. */
export function startReceiver(handshake: (challenge: string) => Response | Promise<Response> = (challenge) => new Response(challenge)): Receiver {
  const handshakes: Receiver["handshakes"] = [];
  const posts: Post[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: 64 * 1024 * 1024,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (request.method === "GET") {
        handshakes.push({ mode: searchParams.get("hub.mode"), verifyToken: searchParams.get("hub.verify_token") });
        return handshake(searchParams.get("hub.challenge") ?? "");
      }
      const body = await request.text();
      const json = JSON.parse(body);
      const post: Post = { path: pathname, headers: Object.fromEntries(request.headers), body, json, values: valuesOf(json) };
      posts.push(post);
      return receiver.response(post, posts.length);
    },
  });
  const receiver: Receiver = { url: `http://127.0.0.1:${server.port}/hook`, handshakes, posts, response: () => new Response("taken") };
  afterThisTest(() => server.stop(true));
  return receiver;
}

const valuesOf = ({ entry }: { entry: readonly { changes?: readonly { value: unknown }[]; messaging?: readonly unknown[] }[] }): unknown[] =>
  entry.flatMap(({ changes = [], messaging = [] }) => [...changes.map(({ value }) => value), ...messaging]);

/**
 * A POST by its index; a negative index counts from the end. Throws if there is no such POST, because a comparison of two missing POSTs would pass.
 */
export function postAt({ posts }: Pick<Receiver, "posts">, at: number): Post {
  const post = posts.at(at);
  if (post === undefined) throw new Error(`there is no POST at ${at}: the callback got ${posts.length}`);
  return post;
}

/** The payloads of all POSTs that the callback got. */
export const valuesAt = ({ posts }: Receiver): unknown[] => posts.flatMap(({ values }) => values);
