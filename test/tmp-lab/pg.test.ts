import { test } from "bun:test";
import { newRooms, officeMigrations, openOffice, startReceiver } from "#harness/post-office";
import { newWorkStore } from "#harness/work-database";
for (const kind of ["sqlite", "postgres"] as const) test(kind, async () => {
  const receiver = startReceiver();
  const lat: number[] = [];
  receiver.answer = ({ values }) => { for (const v of values as any[]) lat.push(performance.now() - v.at); return new Response(null, { status: Math.random() < Number(process.env.FAIL ?? 0) ? 500 : 200 }); };
  const clock = { ms: 0, nowMs: () => Date.now() };
  const office = openOffice(await (await newWorkStore(kind, officeMigrations)).open(), { rooms: newRooms(receiver.url), clock, real: clock });
  office.loop.start();
  let turns = 0; const t0 = office.webhooks.deliveries.turn.bind(office.webhooks.deliveries); office.webhooks.deliveries.turn = async (t) => { turns++; return t0(t); };
  let n = 0; const end = performance.now() + 4000;
  const emitlat: number[] = [];
  await Promise.all(Array.from({ length: 32 }, async () => { while (performance.now() < end) { const k = n++; const a = performance.now(); await office.emit(String(4000 + (k % 50)), { n: k, at: a }); emitlat.push(performance.now() - a); } }));
  await Bun.sleep(500);
  lat.sort((a, b) => a - b); emitlat.sort((a, b) => a - b);
  console.log(kind, { emitted: n, posts: receiver.received.length, arrived: lat.length, turns, p50: lat[lat.length >> 1]?.toFixed(1), p99: lat[Math.floor(lat.length * .99)]?.toFixed(1), emit50: emitlat[emitlat.length >> 1]?.toFixed(1), errors: office.errors.length });
}, 20000);
