/**
 * A process that does a little work and one durable write for every request, and nothing else. So the times of its requests show the delays of the
 * machine itself.
 */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const file = openSync(join(process.argv[2] ?? tmpdir(), "calibration"), "w");
const page = new Uint8Array(4_096);
let asked = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch() {
    // One of three requests of the app is a write.
    if (++asked % 3 === 0) {
      writeSync(file, page, 0, page.length, 0);
      fsyncSync(file);
    }
    return new Response("ok");
  },
});
process.send?.(`http://127.0.0.1:${server.port}/`);
process.on("disconnect", () => {
  closeSync(file);
  process.exit(0);
});
