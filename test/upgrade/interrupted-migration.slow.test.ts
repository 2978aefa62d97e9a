/** D-347: SIGTERM ends a migration at once, and a later run continues it. Without SIGTERM, the made-up migration would never end. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { type DatabaseKind, onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startServer, temporaryFolder } from "#harness/server";

const LATER = [process.execPath, join(import.meta.dir, "later-release.ts")];

interface Run {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** The output of the program so far. */
  text(): string;
}

/** Runs the program as a later release. With `isEndless`, the program's migration that fills a column begins again and again. */
function run(args: readonly string[], data: string, isEndless: boolean): Run {
  const child = Bun.spawn([...LATER, ...args], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH ?? "", LATER_RELEASE: "2", ...(isEndless ? { LATER_ENDLESS: "1" } : {}), PLAZA_DATA: data },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  let text = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const part of stream) text += new TextDecoder().decode(part);
  };
  void Promise.all([read(child.stdout), read(child.stderr)]);
  return { child, text: () => text };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5);
}

const START = ["start", "--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off"];

/** Creates the data of the first release. */
async function dataOf(kind: DatabaseKind): Promise<string> {
  const data = kind === "sqlite" ? join(temporaryFolder(), "data") : await (await sharedPostgres()).newDatabase();
  expect(await (await startServer(["--data", data])).stop()).toBe(0);
  return data;
}

onEachDatabase("an interrupted migration", (kind) => {
  test("plaza migrate ends with SIGTERM, and a second run does the rest", async () => {
    const data = await dataOf(kind);
    const first = run(["migrate"], data, true);
    await until(() => /later\/priority_filled, \d+ rows/.test(first.text()));
    first.child.kill("SIGTERM");
    await first.child.exited;
    expect(first.child.signalCode).toBe("SIGTERM");
    const second = run(["migrate"], data, false);
    expect(await second.child.exited).toBe(0);
    await until(() => second.text().endsWith("run\n"));
    // The later run does not repeat the first migration of the release, and does not wait for the lock of the ended process.
    expect(second.text()).toStartWith("default: later/priority_filled\n");
    expect(second.text()).toEndWith("\n1 run\n");
  }, 60_000);

  test("a start that migrates ends with SIGTERM and exit code 0, and the next start does the rest", async () => {
    const data = await dataOf(kind);
    const first = run(START, data, true);
    await until(() => /"migration":"later\/priority_filled","done":1,"total":2,"rows":[1-9]/.test(first.text()));
    first.child.kill("SIGTERM");
    expect(await first.child.exited).toBe(0);
    expect(first.text()).toContain("ending before the server is ready");
    const second = run(START, data, false);
    await until(() => second.text().includes('"msg":"ready"'));
    expect(second.text()).not.toContain('"migration":"later/priority"');
  }, 60_000);
});
