/** SeaweedFS, an object store with the protocol S3, for tests of recordings in a bucket. */
import { existsSync } from "node:fs";
import { WEED } from "#test-runs/programs";
import { afterThisTest } from "../cleanup.ts";
import { freePort } from "../processes/free-port.ts";
import { needs } from "../processes/needs.ts";
import { temporaryFolder } from "../server.ts";

needs("seaweedfs");

const KEY = "plaza-tests";

export interface ObjectStore {
  /** The address of recordings whose objects have names that begin with `prefix`. */
  addressOf(prefix: string): string;
  /** Kills the store with SIGKILL. `start` starts the killed store again with the same data. */
  kill(): Promise<void>;
  /** The promise resolves when the store accepts objects. */
  start(): Promise<void>;
}

/** Starts an empty object store with a bucket `plaza`, until the test ends. */
export async function startObjectStore(): Promise<ObjectStore> {
  if (!existsSync(WEED)) throw new Error("SeaweedFS is not installed: install it with sh tools/install/seaweedfs.sh");
  const folder = temporaryFolder();
  const s3 = freePort();
  const endpoint = `http://127.0.0.1:${s3}`;
  let filer = 0;
  const quiet = [
    "-ip=127.0.0.1",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-master.telemetry=false",
    "-volume.max=20",
    "-master.volumeSizeLimitMB=64",
    "-volume.preStopSeconds=0",
  ];
  // SeaweedFS also listens on each port plus 10,000 and ends if another program has such a port, so each start chooses new ports.
  const begin = () => {
    filer = freePort();
    const ports = [`-master.port=${freePort()}`, `-volume.port=${freePort()}`, `-filer.port=${filer}`, `-s3.port=${s3}`];
    return Bun.spawn([WEED, "server", `-dir=${folder}`, "-filer", "-s3", `-s3.port.grpc=${freePort()}`, ...ports, ...quiet], {
      ...{ cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
      env: { ...process.env, AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    });
  };
  let running = begin();
  const kill = async (): Promise<void> => {
    running.kill("SIGKILL");
    await running.exited;
  };
  afterThisTest(kill);
  const client = new Bun.S3Client({ bucket: "plaza", endpoint, accessKeyId: KEY, secretAccessKey: KEY, region: "us-east-1" });
  const untilThere = async (): Promise<void> => {
    for (;;) {
      try {
        await client.write("probe/object", "there");
        await client.delete("probe/object");
        return;
      } catch {
        if (running.exitCode !== null) running = begin();
        // SeaweedFS keeps a bucket as a folder of its filer.
        await fetch(`http://127.0.0.1:${filer}/buckets/plaza/`, { method: "POST" }).catch(() => {});
        await Bun.sleep(50);
      }
    }
  };
  await untilThere();
  return {
    addressOf: (prefix) => `s3://${KEY}:${KEY}@plaza/${prefix}?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
    kill,
    start: async () => {
      running = begin();
      await untilThere();
    },
  };
}
