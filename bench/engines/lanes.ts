/**
 * The sender of the bench `lanes` for Plaza. Each app has one callback, and the sink receives the webhooks of all callbacks. With `hangs` as the
 * third argument, the first callback never responds.
 */
import { message, openWebhookEngine } from "./webhook-engine.ts";

const CALLBACKS = 1_000;
const [sink = "", folder = "", first = ""] = Bun.argv.slice(2);
const engine = await openWebhookEngine(
  folder,
  (account) => String(1_000 + (Number(account) % CALLBACKS)),
  (app) => (app === "1000" && first === "hangs" ? `${sink}/hang` : `${sink}/hook/${app}`),
);
let made = 0;

/** Sends events to all callbacks in turn, at even intervals. */
async function pace(perSecond: number, seconds: number): Promise<void> {
  const from = performance.now();
  const before = made;
  for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - from) {
    const due = before + Math.floor((elapsed / 1_000) * perSecond);
    for (; made < due; made++) void engine.emit(String(1_000_000 + made), message(performance.timeOrigin + performance.now()));
    await Bun.sleep(1);
  }
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { searchParams } = new URL(request.url);
    await pace(Number(searchParams.get("per_second")), Number(searchParams.get("seconds")));
    return Response.json({ made });
  },
});
console.log(JSON.stringify({ base_url: server.url.origin }));
