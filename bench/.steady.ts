import { startSender, startSink } from "/work/main/bench/harness/deliveries.ts";

const sink = await startSink();
const kind = process.argv[2] as any;
const s = await startSender(kind, "webhooks", sink);
for (let i = 0; i < Number(process.argv[3] ?? 6); i++) console.log(kind, JSON.stringify(await s.round(3)));
await s.stop();
await sink.stop();
process.exit(0);
