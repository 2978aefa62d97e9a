/** A receiver of webhooks on this machine, for `plaza listen`: completes the handshake (D-61) and hands everything else on. */
export interface ReceivedWebhook {
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes, as text: Plaza's are ASCII. */
  readonly body: string;
}

export interface WebhookListener {
  readonly port: number;
  stop(): Promise<void>;
}

/** `take` returns the status that the sender gets. */
export function listenForWebhooks(hostname: string, port: number, take: (webhook: ReceivedWebhook) => Promise<number>): WebhookListener {
  const server = Bun.serve({
    hostname,
    port,
    async fetch(request) {
      if (request.method === "GET") return new Response(new URL(request.url).searchParams.get("hub.challenge") ?? "");
      const status = await take({ headers: Object.fromEntries(request.headers), body: await request.text() });
      return new Response(null, { status });
    },
  });
  return { port: server.port ?? port, stop: () => server.stop(true) };
}
