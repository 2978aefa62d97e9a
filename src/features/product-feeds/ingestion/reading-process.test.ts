import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { csv, HEADER, openFeeds, row } from "#harness/feeds";
import { until } from "#harness/live/connections";
import { temporaryFolder } from "#harness/server";
import { ChildDied } from "#jobs/child-process";
import { sql } from "#storage/sql";
import type { Bytes } from "../formats/bytes.ts";
import { RUNS_MAX, UNPACKED_FREELY_BYTES } from "../product-feeds.limits.ts";
import { readInChild } from "./reading-process.ts";

async function* fileOf(text: string): Bytes {
  yield Buffer.from(text);
}

function programOf(source: string): string {
  const program = join(temporaryFolder(), "program.ts");
  writeFileSync(program, source);
  return program;
}

const endOf = (reading: AsyncIterable<unknown>) =>
  Array.fromAsync(reading).then(
    () => "no problem",
    (error: Error) => error,
  );

test("D-314: a process that is silent for too long is ended, and one that ends by itself is noticed, in any turn", async () => {
  const silent = programOf('process.on("message", () => {}); process.on("disconnect", () => process.exit(0));');
  const problem = await endOf(readInChild(fileOf(HEADER), undefined, { program: silent, turnMsMax: 500 }));
  expect(problem).toMatchObject({ name: "FeedFileProblem", message: "reading the file takes too long: it made no progress for 0.5 s" });
  for (const source of ["process.exit(3);", 'process.on("message", () => { process.send({ kind: "part" }, () => process.exit(3)); });'])
    expect(await endOf(readInChild(fileOf(HEADER), undefined, { program: programOf(source) }))).toBeInstanceOf(ChildDied);
});

test("D-314: a process ends with its parent, whatever ends that", async () => {
  const pidFile = join(temporaryFolder(), "pid");
  const parent = programOf(`
    import { startChild } from ${JSON.stringify(join(import.meta.dirname, "../../../jobs/child-process.ts"))};
    const child = startChild("read-feed");
    child.on("message", () => require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(child.pid)));
    child.send({ kind: "begin" });
    setInterval(() => {}, 1000);`);
  const running = spawn(process.execPath, [parent], { stdio: "ignore" });
  afterThisTest(() => running.kill("SIGKILL"));
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
  const pid = Number(readFileSync(pidFile, "utf8"));
  const isThere = (): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  expect(isThere()).toBe(true);
  running.kill("SIGKILL");
  await until(() => !isThere());
});

onEachDatabase("D-314: hostile files", (database) => {
  test("end as failed uploads with their reasons, and the feed is unchanged", async () => {
    const { upload, idsOf } = await openFeeds(database);
    await upload(csv(row("a")));
    const files: [file: Uint8Array<ArrayBuffer> | string, problem: string][] = [
      [`${HEADER}\n${'a,"t\n'.repeat(20_000)}`, "no row is a valid item"],
      [gzipSync(`<rss>${"<a>".repeat(15_000_000)}`), "line 1: elements are nested more than 64 levels deep"],
      [`<rss><channel>${"<a/>".repeat(73_000)}`, "the XML is not well-formed: line 1: unclosed tag: channel"],
      [gzipSync(`{"id":"a"}\n{"id":"b","x":"${"x".repeat(2 * UNPACKED_FREELY_BYTES)}"}`), "the file unpacks to more than 200 times its size"],
      [`{"id":${"[".repeat(500_000)}`, "no row is a valid item"],
    ];
    for (const [file, problem] of files) expect(await upload(file)).toMatchObject({ status: "failed", problem });
    expect(await idsOf()).toEqual(["a"]);
  });

  test("harmless files with equal rows are read, however well they are compressed", async () => {
    const { upload } = await openFeeds(database);
    const packed = gzipSync(csv(row("a"), ...new Array(50_000).fill(row("b"))));
    expect(await upload(packed)).toMatchObject({ status: "done", items: 2, duplicates: 49_999 });
  });

  test("an upload that was begun twenty times and never ended is failed, whoever began it", async () => {
    const { plaza, request, send, upload, idsOf } = await openFeeds(database);
    const { database: stored, work } = plaza.world;
    for (const [begun, status] of [
      [RUNS_MAX - 1, "done"],
      [RUNS_MAX, "failed"],
    ] as const) {
      const { feed, n } = (await send(csv(row(`a${begun}`)))).body;
      const reading = JSON.stringify({ n, begun, died: 0 });
      await stored.write((tx) => tx.runOne(sql`UPDATE jobs SET payload = ${reading} WHERE kind = 'feed_ingestion' AND key = ${feed}`));
      await work.runDue();
      expect((await request("GET", `feeds/${feed}/uploads/${n}`)).body.status).toBe(status);
    }
    expect(await idsOf()).toEqual([`a${RUNS_MAX - 1}`]);
    // Plaza counts separately for each upload how many processes ended while they read its file.
    expect(await upload(csv(row("b")))).toMatchObject({ status: "done", items: 1 });
  });

  test("an upload whose readers end is failed after the third, and the next one is read", async () => {
    const { upload, idsOf } = await openFeeds(database);
    const { execPath } = process;
    afterThisTest(() => {
      process.execPath = execPath;
    });
    process.execPath = "/bin/false";
    expect(await upload(csv(row("a")))).toMatchObject({
      ...{ status: "failed", items: 0 },
      problem: "the file cannot be read: 3 processes ended while they read it",
    });
    process.execPath = execPath;
    expect(await upload(csv(row("b")))).toMatchObject({ status: "done", items: 1 });
    expect(await idsOf()).toEqual(["b"]);
  });
});
