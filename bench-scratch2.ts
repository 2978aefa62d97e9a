import { openDatabase } from "#storage/open";
import { webhookMigrations } from "#webhooks/webhooks.migrations";
import * as store from "#webhooks/deliveries.store";
import { TimeOrderedIds } from "#system";
const database = await openDatabase({ data: ":memory:", world: "bench", migrations: [webhookMigrations] });
const ids = new TimeOrderedIds(() => 1);
const N = 20000, G = 64;
const payload = JSON.stringify({ messaging_product: "chatapp", metadata: { phone_number_id: "4101" }, messages: [{ from: "491", id: "wamid.x", timestamp: "1795000000", text: { body: "hello world hello world" }, type: "text" }] });
function cpu() { const c = process.cpuUsage(); return c.user + c.system; }
async function phase(name: string, f: () => Promise<void>) { const a = cpu(); await f(); console.log(name, ((cpu() - a) / N).toFixed(1), "us each"); }
const dids: string[] = [];
for (let round = 0; round < 2; round++) {
dids.length = 0;
await phase("emit, each own body", async () => { for (let i = 0; i < N; i += G) await Promise.all(Array.from({ length: G }, () => database.write(async (tx) => {
  const ev: any = { id: ids.mint(), object: "chatapp_business_account", field: "messages", entity: String(40000 + (i % 10000)), phone: null, time_ms: Date.now(), payload };
  await store.insertEvent(tx, ev, 1); const d = ids.mint(); dids.push(d); await store.insertDelivery(tx, d, ev, "1001", "5");
}))); });
await phase("find+lock", async () => { for (let i = 0; i < N; i += G) await database.write(async (tx) => { await store.findFirsts(tx, "5", G + 32); await store.lockFirsts(tx, dids.slice(i, i + G)); }); });
await phase("claim update", async () => { for (let i = 0; i < N; i += G) await database.write(async (tx) => { await store.claimFirsts(tx, dids.slice(i, i + G), 77, Date.now()); }); });
await phase("saveEnd", async () => { for (let i = 0; i < N; i += G) await database.write(async (tx) => { await Promise.all(dids.slice(i, i + G).map((id) => store.saveEnd(tx, id, 77, 2, '[{"time_ms":1795000000000,"callback":"123","status":200,"latency_ms":1.2,"answer":"ok"}]', Date.now()))); }); });
await phase("empty body", async () => { for (let i = 0; i < N; i += G) await Promise.all(Array.from({ length: G }, () => database.write(async (tx) => {}))); });
}
process.exit(0);
