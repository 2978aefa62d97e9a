/** D-341: checks the problem of a full disk on a real disk that is full. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { smallDisk } from "./small-disk.ts";
import { namesProblem, startWatched } from "./watched-plaza.ts";

/** Makes a database on the small disk. PostgreSQL's log stays on another disk, because a full log ends PostgreSQL, which is another problem. */
async function databaseOn(folder: string): Promise<string> {
  const { url } = await sharedPostgres();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await client.query("CREATE DATABASE small TABLESPACE small");
  } finally {
    await client.end();
  }
  return url.replace(/\/[^/]*$/, "/small");
}

async function dropDatabase(): Promise<void> {
  const client = new Client({ connectionString: (await sharedPostgres()).url });
  await client.connect();
  await client.query("DROP DATABASE IF EXISTS small WITH (FORCE)");
  await client.query("DROP TABLESPACE IF EXISTS small");
  await client.end();
}

onEachDatabase("a full disk", (kind) => {
  test("D-341: writes are refused, reads go on, the server stays ready, and everything says why until a write succeeds again", async () => {
    const disk = smallDisk(kind === "sqlite" ? 40 : 60);
    const data = kind === "sqlite" ? join(disk.folder, "data") : await databaseOn(disk.folder);
    try {
      const plaza = await startWatched(["--data", data]);
      disk.fill();
      let [status, count] = [200, 0];
      while (status === 200) status = await plaza.createLabel(`before-${count++}`);
      expect(status).toBe(503);
      const said = await plaza.says(namesProblem("disk_full"));
      expect(said.status).toContain("The disk of the database is full, and writes are refused.");
      expect(said.readyz).toEqual({ status: 200, text: '{"status":"ready","problems":["disk_full"]}' });
      expect(await plaza.readLabels()).toBe(200);
      disk.free();
      const isOver = async () => {
        await plaza.createLabel(`after-${count++}`);
        return !(await plaza.said()).metrics.includes("plaza_database_problem{");
      };
      while (!(await isOver()));
      const { status: afterwards, readyz, metrics } = await plaza.said();
      expect(afterwards).not.toContain("disk");
      expect(readyz.text).toBe('{"status":"ready"}');
      expect(metrics).toContain('plaza_database_failures_total{problem="disk_full"}');
      process.kill(plaza.pid, "SIGKILL");
    } finally {
      if (kind === "postgres") await dropDatabase();
    }
    expect(existsSync(disk.folder)).toBe(true);
  });
});
