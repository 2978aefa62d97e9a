/**
 * The sender of the bench `webhooks` for Plaza. The sender stores each event durably before its caller continues, and delivers the events to
 * callbacks of the sink. A request to `/pace` makes the sender send a given number of events per second.
 */
import { message, openWebhookEngine, startCallers } from "./webhook-engine.ts";

/** The number of callbacks, as for a few apps with much traffic. The bench `lanes` has a thousand callbacks with little traffic. */
const CALLBACKS = 16;
/** If `data` is given, it is an address of PostgreSQL that is used instead of the folder. */
const [sink = "", folder = "", data = folder] = Bun.argv.slice(2);
const engine = await openWebhookEngine(
  data,
  (account) => String(1_001 + (Number(account) % CALLBACKS)),
  (app) => `${sink}/hook/${app}`,
);
let isBusy = false;

async function round(seconds: number): Promise<object> {
  if (!isBusy) startCallers(engine);
  isBusy = true;
  const [posts, updates, cpu, from] = [engine.taken.posts, engine.taken.updates, process.cpuUsage(), performance.now()];
  await Bun.sleep(seconds * 1_000);
  const used = process.cpuUsage(cpu);
  const made = engine.taken.posts - posts;
  const elapsed = (performance.now() - from) / 1_000;
  return { per_second: made / elapsed, cpu_us: (used.user + used.system) / made, updates_per_post: (engine.taken.updates - updates) / made };
}

async function pace(perSecond: number, seconds: number): Promise<object> {
  const from = performance.now();
  let made = 0;
  for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - from) {
    const due = Math.floor((elapsed / 1_000) * perSecond);
    for (; made < due; made++) void engine.emit(String(1_000_000 + made), message(performance.timeOrigin + performance.now()));
    await Bun.sleep(1);
  }
  return { made };
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const seconds = Number(searchParams.get("seconds"));
    return Response.json(await (pathname === "/pace" ? pace(Number(searchParams.get("per_second")), seconds) : round(seconds)));
  },
});
console.log(JSON.stringify({ base_url: server.url.origin }));
