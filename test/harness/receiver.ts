/** A callback on loopback: passes handshakes, responds to POSTs as the test says, and keeps the POSTs that it receives. */
import { afterThisTest } from "./cleanup.ts";

interface Post {
  readonly path: string;
  readonly headers: Record<string, string>;
  /** As it was sent. */
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any body.
  readonly json: any;
  /** The payloads in it, in their order. */
  readonly values: unknown[];
}

export interface Receiver {
  readonly url: string;
  /** The handshakes that came: mode and verify token. */
  readonly handshakes: { mode: string | null; verifyToken: string | null }[];
  readonly posts: Post[];
  /** The response to a POST, 200 by default; `count` is how many have come. */
  response: (post: Post, count: number) => Response | Promise<Response>;
}

/** `handshake` makes the response of a handshake; by default the challenge. */
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

/** Throws where there is none: two POSTs that are both missing are not the same POST. `at` counts from the end if it is negative. */
export function postAt({ posts }: Pick<Receiver, "posts">, at: number): Post {
  const post = posts.at(at);
  if (post === undefined) throw new Error(`of ${posts.length} POSTs there is none at ${at}`);
  return post;
}

/** The payloads of all POSTs. */
export const valuesAt = ({ posts }: Receiver): unknown[] => posts.flatMap(({ values }) => values);
