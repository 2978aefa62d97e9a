/**
 * The POST that all floors of webhooks send (each with a body of its own and both signatures), and the rounds in which they send it. A round sends
 * as many POSTs at once as a callback may get.
 */
import { createHmac } from "node:crypto";

const REQUESTS = 64;

export function postOf(sink: string, id: string): { readonly body: string; send(): Promise<void> } {
  const value = `{"messaging_product":"chatapp","metadata":{"phone_number_id":"4101"},"messages":[{"from":"491701234567","id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3","timestamp":"1795000000","text":{"body":"hello world"},"type":"text"}],"sent_ms":${Date.now()}}`;
  const body = `{"object":"chatapp_business_account","entry":[{"id":"4001","time":1795000000,"changes":[{"field":"messages","value":${value}}]}]}`;
  return {
    body,
    async send() {
      const timestamp = Math.floor(Date.now() / 1000);
      const response = await fetch(`${sink}/hook`, {
        method: "POST",
        body,
        redirect: "manual",
        headers: {
          "Content-Type": "application/json",
          "User-Agent": "floor",
          "X-Hub-Signature-256": `sha256=${createHmac("sha256", "s3cret").update(body).digest("hex")}`,
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": `v1,${createHmac("sha256", "s3cret").update(`${id}.${timestamp}.${body}`).digest("base64")}`,
        },
      });
      await response.text();
      if (response.status !== 200) throw new Error(`status ${response.status}`);
    },
  };
}

/** Serves `/round?seconds=`: calls `deliver` repeatedly for the given seconds, and responds with the cost of one delivery. */
export function serveRounds(deliver: (id: string) => Promise<void>): void {
  let sent = 0;
  let isRunning = false;
  const loop = async (): Promise<void> => {
    while (isRunning) await deliver(`msg_${1_000_000_000_000 + sent++}`);
  };
  const round = async (seconds: number): Promise<object> => {
    isRunning = true;
    const [before, cpu, from] = [sent, process.cpuUsage(), performance.now()];
    const senders = Array.from({ length: REQUESTS }, loop);
    await Bun.sleep(seconds * 1_000);
    const [made, used, elapsed] = [sent - before, process.cpuUsage(cpu), (performance.now() - from) / 1_000];
    isRunning = false;
    await Promise.all(senders);
    return { per_second: made / elapsed, cpu_us: (used.user + used.system) / made };
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => Response.json(await round(Number(new URL(request.url).searchParams.get("seconds")))),
  });
  console.log(JSON.stringify({ base_url: server.url.origin }));
}
