/** A receiver of webhooks in the process of the test: it answers the handshake, checks signatures, and stores the webhooks. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Headers, signatureProblem } from "./signatures.ts";

/** One change or message of a webhook. */
export interface WebhookEvent {
  /** The id of the account or page that the event is about. */
  readonly entity: string;
  /** The time of the event, in Unix seconds of the world. */
  readonly time: number;
  /** The webhook field; `messages` for the updates below `messaging`. */
  readonly field: string;
  readonly value: unknown;
}

export interface ReceivedWebhook {
  /** The id of the webhook, which stays the same when the server sends the webhook again. */
  readonly id: string;
  readonly object: string;
  readonly events: readonly WebhookEvent[];
  readonly path: string;
  /** The headers of the webhook, by their names in lower case. */
  readonly headers: Headers;
  /** The body of the webhook, exactly as it was sent. */
  readonly body: string;
}

export interface ReceiverOptions {
  /** The secret of the app, with which webhooks are signed. */
  readonly secret: string;
  /** The verify token that a handshake must have. Without this option the receiver accepts any verify token. */
  readonly verifyToken?: string | undefined;
  /** The port to listen on. Default: a free port. */
  readonly port?: number | undefined;
}

export interface Receiver {
  readonly url: string;
  /** Correctly signed webhooks in the order of their arrival. A webhook that was sent twice is in the list twice. */
  readonly webhooks: ReceivedWebhook[];
  /** All other requests, each with the reason why the receiver refused it. */
  readonly refused: { readonly problem: string; readonly headers: Headers; readonly body: string }[];
  /**
   * Returns the status with which the receiver responds: 200 unless a test replaces this function. `count` is the number of webhooks so far,
   * including this one.
   */
  respond: (webhook: ReceivedWebhook, count: number) => number | Promise<number>;
  /** The secret of the app. Change it when the app's secret changes. */
  secret: string;
  close(): Promise<void>;
}

/** The largest body that the receiver accepts; a webhook with a thousand updates of some kilobytes is smaller. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Starts a receiver of webhooks. Resolves when the receiver listens. The open port of the receiver does not keep the process alive. */
export async function startReceiver({ secret, verifyToken, port = 0 }: ReceiverOptions): Promise<Receiver> {
  const server = createServer((request, response) => {
    serve(receiver, verifyToken, request, response).catch((error: unknown) => end(response, 500, String(error)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  server.unref();
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    webhooks: [],
    refused: [],
    respond: () => 200,
    secret,
    close: () => closeServer(server),
  };
  return receiver;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function serve(receiver: Receiver, verifyToken: string | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", receiver.url);
  if (request.method === "GET") {
    const isMine =
      searchParams.get("hub.mode") === "subscribe" && (verifyToken === undefined || searchParams.get("hub.verify_token") === verifyToken);
    return end(response, isMine ? 200 : 403, isMine ? (searchParams.get("hub.challenge") ?? "") : "hub.verify_token is wrong");
  }
  const body = await bodyOf(request);
  if (body === undefined) return end(response, 413, `the body is larger than ${BODY_BYTES_MAX} bytes`);
  const headers = request.headers as Headers;
  const problem = signatureProblem(receiver.secret, headers, body);
  if (problem !== undefined) {
    receiver.refused.push({ problem, headers, body });
    return end(response, 401, problem);
  }
  const webhook = webhookOf(pathname, headers, body);
  receiver.webhooks.push(webhook);
  end(response, await receiver.respond(webhook, receiver.webhooks.length), "");
}

const end = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { "content-type": "text/plain" }).end(text);
};

/**
 * The body of a request; undefined if it is too large. A body that is too large is still read to its end, because the sender may not receive a
 * response that comes earlier.
 */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length <= BODY_BYTES_MAX) parts.push(part);
  }
  return length > BODY_BYTES_MAX ? undefined : Buffer.concat(parts).toString("utf8");
}

interface Envelope {
  readonly object: string;
  readonly entry: readonly {
    readonly id: string;
    readonly time: number;
    readonly changes?: readonly { readonly field: string; readonly value: unknown }[];
    readonly messaging?: readonly unknown[];
  }[];
}

function webhookOf(path: string, headers: Headers, body: string): ReceivedWebhook {
  const { object, entry } = JSON.parse(body) as Envelope;
  const events = entry.flatMap(({ id: entity, time, changes = [], messaging = [] }) => [
    ...changes.map(({ field, value }) => ({ entity, time, field, value })),
    ...messaging.map((value) => ({ entity, time, field: "messages", value })),
  ]);
  return { id: headers["webhook-id"] ?? "", object, events, path, headers, body };
}
