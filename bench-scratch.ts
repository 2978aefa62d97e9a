import { webhookJobs } from "#webhooks/callback-jobs";
import { GuardedClient } from "#webhooks/guarded-client";
import { silentObserver } from "#webhooks/observer";
import { webhookMigrations } from "#webhooks/webhooks.migrations";
import { Webhooks } from "#webhooks/webhooks";
import { Jobs } from "#jobs/jobs";
import { jobMigrations } from "#jobs/jobs.migrations";
import { WorkLoop } from "#jobs/work-loop";
import { ReaderRegistry } from "#kernel/readers";
import { deriveKey, Sealer } from "#storage/sealing";
import { openDatabase } from "#storage/open";
import { TimeOrderedIds } from "#system";
const [url = "", data = ":memory:", apps = "1", entities = "1000", seconds = "4", conc = "64"] = Bun.argv.slice(2);
const database = await openDatabase({ data, world: "bench", migrations: [jobMigrations, webhookMigrations] });
const sealer = new Sealer(deriveKey(new Uint8Array(32).fill(7), "sealed secrets"));
const readers = new ReaderRegistry();
const appIds = Array.from({ length: Number(apps) }, (_, i) => String(1000 + i));
readers.register("chatapp_business_account_subscribers", { subscribersOf: async (_r: any, e: any) => [appIds[Number(e.entity) % appIds.length]] as any });
readers.register("webhook_override", { overridesOf: async () => ({ account: undefined, phone: undefined }) });
const sealed = sealer.seal("s3cret");
readers.register("webhook_app", { find: async (_r: any, app: any) => ({ callbacks: { chatapp_business_account: { url: `${url}/hook/${app}`, isVerified: true } }, sealed_secret: sealed }) });
const clock = { nowMs: () => Date.now() };
const loop = new WorkLoop({ database, clock, realNowMs: () => Date.now(), onError: (e) => console.error(e) });
const world: any = {};
const jobs = new Jobs({ database, loop, kinds: webhookJobs, world: () => world, onFailure: (...a) => console.error(a) });
let delivered = 0; let turns = 0; let turnClaims = 0;
const webhooks = new Webhooks({ database, clock, realNowMs: () => Date.now(), ids: new TimeOrderedIds(() => 1), readers, sealer, client: new GuardedClient({ rules: { isSandbox: true, allowed: [] } }), loop, jobs, observer: { ...silentObserver, attempted: ({updates, outcome}) => { if (outcome.kind === "delivered") delivered += updates; else console.error(outcome); } }, perSecondMax: 0 });
world.webhooks = webhooks;
const t0turn = webhooks.deliveries.turn.bind(webhooks.deliveries);
webhooks.deliveries.turn = async (t) => { turns++; return t0turn(t); };
loop.start();
let n = 0; let emitted = 0; let stop = false;
const payload = { messaging_product: "chatapp", metadata: { phone_number_id: "4101" }, messages: [{ from: "491", id: "wamid.x", timestamp: "1795000000", text: { body: "hello world hello world" }, type: "text" }] };
const MAXBACK = Number(process.env.BACK ?? 2000);
async function writer() {
  while (!stop) {
    if (emitted - delivered > MAXBACK) { await Bun.sleep(1); continue; }
    const k = n++;
    await database.write((tx) => webhooks.emit(tx, { object: "chatapp_business_account", field: "messages", entity: String(40000 + (k % Number(entities))) as any, payload }));
    emitted++;
  }
}
const ws = Array.from({ length: Number(conc) }, writer);
await Bun.sleep(1000);
const c0 = process.cpuUsage(), d0 = delivered, t0 = performance.now(), tu0 = turns;
await Bun.sleep(Number(seconds) * 1000);
const c = process.cpuUsage(c0), d = delivered - d0, t = performance.now() - t0;
console.log(JSON.stringify({ perSecond: Math.round(d / t * 1000), cpuUs: +((c.user + c.system) / d).toFixed(1), userUs: +(c.user / d).toFixed(1), sysUs: +(c.system / d).toFixed(1), emitted, delivered, turnsPerSec: Math.round((turns - tu0) / t * 1000), cpuShare: +((c.user + c.system) / 1000 / t).toFixed(2) }));
stop = true; await Promise.all(ws); await loop.stop(); await database.close(); process.exit(0);
