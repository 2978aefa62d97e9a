/** Starts Debian's Prometheus with the files of deploy/prometheus, which scrapes one server. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { freePort } from "#harness/processes/free-port";
import { needs } from "#harness/processes/needs";
import { temporaryFolder } from "#harness/server";

needs("prometheus");

export const DEPLOY = join(import.meta.dir, "../../deploy/prometheus");

export function promtool(...args: readonly string[]): { readonly isOk: boolean; readonly output: string } {
  const { success, stdout, stderr } = Bun.spawnSync(["promtool", ...args], { stdin: "ignore" });
  return { isOk: success, output: `${stdout}${stderr}` };
}

type Sample = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

export interface Prometheus {
  query(expression: string): Promise<{ readonly status: string; readonly error?: string; readonly samples: readonly Sample[] }>;
}

/** Starts Prometheus. `target` is the `host:port` of a control port. */
export async function startPrometheus(target: string): Promise<Prometheus> {
  const [folder, port] = [temporaryFolder(), freePort()];
  copyFileSync(join(DEPLOY, "alerts.yml"), join(folder, "alerts.yml"));
  const config = readFileSync(join(DEPLOY, "prometheus.yml"), "utf8")
    .replace("15s", "1s")
    .replace(/targets: \[.*\]/, `targets: ["${target}"]`);
  writeFileSync(join(folder, "prometheus.yml"), config);
  const address = `127.0.0.1:${port}`;
  const child = Bun.spawn(
    ["prometheus", `--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const log = new Response(child.stderr).text();
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}: ${await log}`);
    await Bun.sleep(50);
  }
  return {
    async query(query) {
      const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query })}`);
      const { status, error, data } = (await response.json()) as { status: string; error?: string; data?: { result: readonly Sample[] } };
      return { status, samples: data?.result ?? [], ...(error === undefined ? {} : { error }) };
    },
  };
}
