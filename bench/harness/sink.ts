/** Receives webhooks: responds at once, and records the age of each event. A request whose path contains `hang` never gets a response. */
import type { Latencies } from "./deliveries.ts";

const latencies: number[] = [];

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", 8));
    if (path === "/latencies") return Response.json(summed());
    if (path.includes("hang")) return new Promise<Response>(() => {});
    const text = await request.text();
    const at = text.indexOf('"sent_ms":');
    if (at >= 0) latencies.push(performance.timeOrigin + performance.now() - Number.parseFloat(text.slice(at + 10, at + 30)));
    return new Response("ok");
  },
});

function summed(): Latencies {
  const sorted = latencies.splice(0).sort((a, b) => a - b);
  const share = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50_ms: share(0.5), p99_ms: share(0.99), p999_ms: share(0.999), longest_ms: share(1), count: sorted.length };
}

console.log(JSON.stringify({ base_url: server.url.origin }));
