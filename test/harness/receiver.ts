/** A callback on loopback: passes handshakes and keeps the POSTs that it receives. */
import { afterThisTest } from "./cleanup.ts";

export interface Receiver {
  readonly url: string;
  /** The handshakes that came: mode and verify token. */
  readonly handshakes: { mode: string | null; verifyToken: string | null }[];
  readonly posts: { body: string; headers: Record<string, string> }[];
}

/** `response` makes the response of a handshake; by default the challenge. */
export function startReceiver(response: (challenge: string) => Response | Promise<Response> = (challenge) => new Response(challenge)): Receiver {
  const handshakes: Receiver["handshakes"] = [];
  const posts: Receiver["posts"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { searchParams } = new URL(request.url);
      if (request.method !== "GET") {
        posts.push({ body: await request.text(), headers: Object.fromEntries(request.headers) });
        return new Response("ok");
      }
      handshakes.push({ mode: searchParams.get("hub.mode"), verifyToken: searchParams.get("hub.verify_token") });
      return response(searchParams.get("hub.challenge") ?? "");
    },
  });
  afterThisTest(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/hook`, handshakes, posts };
}
