import { startSink } from "./harness/deliveries.ts";

const sink = await startSink();
const child = Bun.spawn([process.execPath, "bench/engines/webhooks.ts", sink.url, "/dev/shm/pb"], { stdout: "pipe", stderr: "inherit" });
const r = child.stdout.getReader();
const { value } = await r.read();
const u = JSON.parse(new TextDecoder().decode(value)).base_url;
for (let i = 0; i < 2; i++) console.log(await (await fetch(`${u}/round?seconds=3`)).text());
const p = Bun.spawn(["perf", "record", "-F", "2000", "-g", "-o", "/tmp/wh/perf.data", "-p", String(child.pid), "--", "sleep", "4"], {
  stdout: "ignore",
  stderr: "ignore",
});
console.log(await (await fetch(`${u}/round?seconds=4`)).text());
await p.exited;
child.kill("SIGINT");
await child.exited;
await sink.stop();
process.exit(0);
