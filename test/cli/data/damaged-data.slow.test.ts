/** D-343: `plaza doctor`, a start and a running server report damage in the files of worlds. */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

const PAGE_BYTES = 4096;

async function newData(): Promise<{ data: string; file: string }> {
  const data = join(newFolder(), "data");
  expect((await (await startPlaza(["--data", data])).end()).code).toBe(0);
  return { data, file: join(data, "default.sqlite") };
}

function overwrite(file: string, at: number, bytes: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, at);
  closeSync(handle);
}

test("D-343: doctor reads the files of all worlds, and a start on a damaged one ends with exit code 2 and one line", async () => {
  const { data, file } = await newData();
  const healthy = await runPlaza(["doctor", "--data", data], { env: { PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0" } });
  expect(healthy.stdout).toContain("ok       data: the file of a world is whole\n");
  expect(healthy.code).toBe(0);
  overwrite(file, 3 * PAGE_BYTES, statSync(file).size - 3 * PAGE_BYTES);
  const damaged = await runPlaza(["doctor", "--data", data], { env: { PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0" } });
  expect(damaged.stdout).toContain(`problem  data: ${file} is damaged (`);
  expect(damaged.code).toBe(1);
  const refused = await runPlaza(["start", "--data", data, "--port", "0", "--control-port", "0", "--rtmp-port", "off"]);
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/^plaza: \S+default\.sqlite is damaged \(.+\): restore the file from a backup\n$/);
  truncateSync(file);
  const empty = await runPlaza(["start", "--data", data, "--port", "0", "--control-port", "0", "--rtmp-port", "off"]);
  expect(empty).toEqual({ code: 2, stdout: "", stderr: `plaza: ${file} is empty: restore the file from a backup\n` });
});

test("D-343: a file too large for a check before the start is checked while the server runs", async () => {
  const { data, file } = await newData();
  const connection = new Database(file);
  connection.run("CREATE TABLE ballast (id INTEGER PRIMARY KEY, text TEXT)");
  connection.run(
    "INSERT INTO ballast WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) SELECT i, hex(randomblob(2000)) FROM n",
  );
  connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
  connection.close();
  const at = readFileSync(file).length - 100 * PAGE_BYTES;
  overwrite(file, at, 50 * PAGE_BYTES);
  const plaza = await startPlaza(["--data", data]);
  let status = "";
  while (!status.includes("The database is damaged.")) status = (await runPlaza(["status", "--data", data])).stdout;
  expect(status).toContain(`the last error: ${file} is damaged (`);
  const { stderr } = await plaza.end();
  expect(stderr).toContain('"problem":"file_damaged"');
});
