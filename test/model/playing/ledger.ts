/** Records the webhooks that arrived, by world and app, and checks that they are exactly the expected ones. */
import { createHmac } from "node:crypto";
import { isFile, pathOfFile, rowsAt } from "../reference/files.ts";
import type { App } from "../reference/nodes.ts";
import type { FeedFile } from "../reference/requests.ts";
import type { World } from "../reference/world.ts";
import { differenceOf } from "./compare.ts";
import { textOf } from "./send.ts";

interface Post {
  readonly path: string;
  readonly webhookId: string;
  /** The header `X-Hub-Signature-256`. */
  readonly signature: string;
  /** The headers `webhook-timestamp` and `webhook-signature`. */
  readonly timestamp: string;
  readonly standard: string;
  readonly body: string;
}

interface Update {
  readonly object: string;
  readonly entity: string;
  readonly field: string;
  readonly value: unknown;
  readonly time: number;
}

/** The time limit for the arrival of a webhook, also on a busy machine. */
const ARRIVES_WITHIN_MS = 20_000;

/** The greatest difference between the real time and the time at which a webhook says it was sent. */
const SENT_WITHIN_SECONDS = 60;

/**
 * The time limit for a history that is played again to find the cause of a failure. This time limit is shorter than that for other histories, because
 * the machine plays no other history then.
 */
const ARRIVES_WITHIN_MS_AGAIN = 3_000;

export class Ledger {
  #arrivesWithinMs = ARRIVES_WITHIN_MS;
  readonly #posts: Post[] = [];
  /** The bodies of all webhooks, by address and webhook id, because an id is unique only in its world (D-02). */
  readonly #bodies = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** The worlds whose callbacks refuse webhooks at present, each with the status with which they refuse. */
  readonly #refusing = new Map<string, { readonly status: number; readonly paths: Set<string>; readonly webhookIds: Set<string> }>();
  /** The problems that single webhooks showed. */
  readonly #wrong: string[] = [];
  /** The worlds of histories that have failed. */
  readonly #ignored = new Set<string>();
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (request.method === "GET" && isFile(request.url)) return serveFile(request.url);
      if (request.method === "GET" && pathname.endsWith("/fails")) return new Response("", { status: 404 });
      if (request.method === "GET") return new Response(pathname.endsWith("/mismatches") ? "another" : searchParams.get("hub.challenge"));
      const header = (name: string): string => request.headers.get(name) ?? "";
      const post = {
        ...{ path: pathname, webhookId: header("webhook-id"), signature: header("x-hub-signature-256"), body: await request.text() },
        ...{ timestamp: header("webhook-timestamp"), standard: header("webhook-signature") },
      };
      this.#look(post, header("content-type"));
      const refusing = this.#refusing.get(pathname.split("/")[1] ?? "");
      if (refusing !== undefined) {
        refusing.paths.add(pathname);
        refusing.webhookIds.add(post.webhookId);
        this.#bodies.set(`${pathname} ${post.webhookId}`, post.body);
        return new Response("", { status: refusing.status });
      }
      this.#take(post);
      return new Response("taken");
    },
  });

  callback(world: string, name: string): string {
    return `http://127.0.0.1:${this.#server.port}/${world}/${name}`;
  }

  /** The URL that serves these rows as a file; undefined for a URL that serves nothing. */
  file(rows: FeedFile["rows"] | undefined): string {
    return `http://127.0.0.1:${this.#server.port}${rows === undefined ? "/files/none" : pathOfFile(rows)}`;
  }

  /** Makes the callbacks of a world respond with this status from now on. undefined makes them accept webhooks. */
  refuse(world: string, status: number | undefined): void {
    if (status === undefined) this.#refusing.delete(world);
    else this.#refusing.set(world, { status, paths: new Set(), webhookIds: new Set() });
  }

  /** The webhooks that the world's callbacks have refused since the call of `refuse`. */
  refused(world: string): { readonly paths: ReadonlySet<string>; readonly webhookIds: ReadonlySet<string> } {
    return this.#refusing.get(world) ?? { paths: new Set(), webhookIds: new Set() };
  }

  stop(): void {
    void this.#server.stop(true);
  }

  /** D-62: checks that the body of a webhook is JSON in ASCII, and that its time is the real time of the attempt. */
  #look({ webhookId, timestamp, body }: Post, type: string): void {
    if (!type.startsWith("application/json")) this.#wrong.push(`${webhookId} came as ${type}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it says what ASCII is.
    if (!/^[\x00-\x7f]*$/.test(body)) this.#wrong.push(`${webhookId} has more than ASCII: ${body}`);
    const isNow = /^\d+$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) < SENT_WITHIN_SECONDS;
    if (!isNow) this.#wrong.push(`${webhookId} has the timestamp ${timestamp}`);
  }

  /** D-62: checks that a repeated webhook has the same id and the same body in all attempts. */
  #take(post: Post): void {
    const delivery = `${post.path} ${post.webhookId}`;
    const known = this.#bodies.get(delivery);
    this.#bodies.set(delivery, post.body);
    const isTaken = this.#taken.has(delivery);
    this.#taken.add(delivery);
    if (!isTaken) this.#posts.push(post);
    if (known !== undefined && known !== post.body) this.#wrong.push(`${post.webhookId} came with two bodies`);
  }

  #difference({ name, apps, updates }: World): string | undefined {
    if (this.#wrong[0] !== undefined) return this.#wrong[0];
    const ofWorld = this.#posts.filter(({ path }) => path.startsWith(`/${name}/`));
    // Two apps with the same secret sign a webhook in the same way.
    const signed = ofWorld.map((post) => ({ post, by: [...apps.values()].filter((app) => isSignedBy(post, app)).map(({ id }) => id) }));
    const stray = signed.find(({ by }) => by.length === 0);
    if (stray !== undefined) return `${stray.post.webhookId} has no right signature`;
    const left = signed.flatMap(({ post, by }) => updatesIn(post.body).map((update) => ({ path: post.path, by, ...update })));
    const missing = updates.filter(({ callback, route: _, times: { from, until }, app, ...update }) => {
      const expected = { path: new URL(callback).pathname, ...update };
      const place = left.findIndex(
        ({ time, by, ...actual }) => by.includes(app) && time >= from && time <= until && differenceOf(expected, actual) === undefined,
      );
      if (place !== -1) left.splice(place, 1);
      return place === -1;
    });
    if (missing.length === 0 && left.length === 0) return undefined;
    return `webhooks that are missing: ${JSON.stringify(missing.slice(0, 2))}; that should not have come: ${JSON.stringify(left.slice(0, 2))}`;
  }

  /**
   * Waits until every expected webhook has arrived, and returns the problem if one has not. Webhooks that were compared once are not compared again.
   */
  async settle(world: World): Promise<string | undefined> {
    const endMs = performance.now() + this.#arrivesWithinMs;
    for (;;) {
      const difference = this.#difference(world);
      if (difference !== undefined && performance.now() < endMs) {
        await Bun.sleep(5);
        continue;
      }
      world.updates.length = 0;
      this.forget(world.name);
      return difference;
    }
  }

  hurry(): void {
    this.#arrivesWithinMs = ARRIVES_WITHIN_MS_AGAIN;
  }

  /**
   * A webhook that arrived after the end of a history, although the history had waited for all expected webhooks. The function checks the given
   * world, or all worlds.
   */
  late(world?: string): string | undefined {
    const names = this.#posts.map(({ path }) => path.split("/")[1] ?? "");
    const place = names.findIndex((name) => (world === undefined || name === world) && !this.#ignored.has(name));
    return place === -1 ? this.#wrong[0] : `after the end of a history came ${JSON.stringify(this.#posts[place])}`;
  }

  /** Ignores all further webhooks of a world. */
  ignore(world: string): void {
    this.#ignored.add(world);
    this.forget(world);
  }

  forget(world: string): void {
    for (let place = this.#posts.length - 1; place >= 0; place--) if (this.#posts[place]?.path.startsWith(`/${world}/`)) this.#posts.splice(place, 1);
  }
}

function serveFile(address: string): Response {
  const rows = rowsAt(address);
  return rows === undefined ? new Response("", { status: 404 }) : new Response(textOf(rows));
}

const hmac = (secret: string, text: string, encoding: "hex" | "base64"): string => createHmac("sha256", secret).update(text).digest(encoding);

/** D-62: whether both signatures of a webhook are the app's. D-132: the old secret of an app signs only the headers of Standard Webhooks. */
function isSignedBy({ webhookId, timestamp, body, signature, standard }: Post, { secret, retired_secret }: App): boolean {
  const secrets = [secret, ...(retired_secret === undefined ? [] : [retired_secret])];
  const all = secrets.map((one) => `v1,${hmac(one, `${webhookId}.${timestamp}.${body}`, "base64")}`).join(" ");
  return signature === `sha256=${hmac(secret, body, "hex")}` && standard === all;
}

interface Body {
  readonly object: string;
  readonly entry: readonly {
    readonly id: string;
    readonly time: number;
    readonly changes?: readonly { readonly field: string; readonly value: unknown }[];
    readonly messaging?: readonly unknown[];
  }[];
}

function updatesIn(text: string): Update[] {
  const { object, entry } = JSON.parse(text) as Body;
  return entry.flatMap(({ id, time, changes = [], messaging = [] }) => [
    ...changes.map(({ field, value }) => ({ object, entity: id, field, value, time })),
    ...messaging.map((value) => ({ object, entity: id, field: "messages", value, time })),
  ]);
}
