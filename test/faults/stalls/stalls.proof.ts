/**
 * Checks that no caller can stop the server for other callers, whatever the caller sends. Sends each operation, upload, control route and message of
 * an encoder at its limits, hostile and honest, once and then twice, to a server. While the server handles these inputs, another process sends
 * requests for health, as another app and as an encoder.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startReceiver } from "#harness/receiver";
import { type Server, startServer, temporaryFolder, worldFile } from "#harness/server";
import { controlLoads } from "./control-loads.ts";
import { encoderLoads } from "./encoder-loads.ts";
import { graphLoads } from "./graph-loads.ts";
import { LIMITS, type Load } from "./load.ts";
import { type Measured, Measuring, tableOf } from "./measuring.ts";
import { deletionsLast, stallsWorld } from "./stalls-world.ts";
import { uploadLoads } from "./upload-loads.ts";

/** The limit of a body of the control API that is JSON with a world file in it. World files alone may be longer. */
const CONTROL_BODY_BYTES = 16 * 1_048_576;
/** The number of nodes in a world file. */
const NODES = 10_000;

const areas: Readonly<Record<string, { readonly loads: (callback: string) => readonly Load[]; readonly options?: readonly string[] }>> = {
  "each operation": { loads: (callback) => graphLoads(callback, LIMITS) },
  "each upload": { loads: uploadLoads },
  "each control route": { loads: () => controlLoads({ ...LIMITS, bodyBytes: CONTROL_BODY_BYTES }, NODES) },
  "each message of an encoder": { loads: encoderLoads, options: ["--rtmp-port", "0"] },
};

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).catch(() => undefined);
    if (socket !== undefined) {
      socket.end();
      return;
    }
    await Bun.sleep(10);
  }
}

onEachDatabase("nothing that one caller sends stops the others", (database) => {
  test.each(Object.keys(areas))("%s at its limits", async (name) => {
    const { loads, options = [] } = areas[name] as (typeof areas)[string];
    const start = async (): Promise<Server> => {
      const data = database === "sqlite" ? temporaryFolder() : await (await sharedPostgres()).newDatabase();
      return startServer(["--data", data, "--world", worldFile(stallsWorld), ...options]);
    };
    const [server, idle] = [await start(), await start()];
    const rtmpPort = server.rtmp_url === null ? undefined : Number(new URL(server.rtmp_url.replace("rtmp:", "http:")).port);
    if (rtmpPort !== undefined) await untilListening(rtmpPort);
    const measuring = await Measuring.begin(server, idle, database, rtmpPort);
    const measured: Measured[] = [];
    for (const load of deletionsLast(loads(startReceiver().url))) measured.push(await measuring.measure(load));
    console.log(`${database}: ${name}, ${measured.length} loads\n${tableOf(measured)}`);
    expect(measured.flatMap(({ refused }) => refused)).toEqual([]);
    expect(measured.flatMap(({ work, shape, over, values }) => (over.length === 0 ? [] : [{ work, shape, over, values }]))).toEqual([]);
  });
});
