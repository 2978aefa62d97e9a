/** D-342: checks what an operator sees when somebody deletes, replaces or cuts files of a running server's data folder. */
import { expect, test } from "bun:test";
import { copyFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { namesProblem, startWatched } from "./watched-plaza.ts";

const changes: readonly (readonly [title: string, cause: string, change: (file: string) => void])[] = [
  ["the log is deleted", "default.sqlite-wal is gone", (file) => rmSync(`${file}-wal`)],
  ["the file is emptied", "default.sqlite became shorter", (file) => truncateSync(file)],
  [
    "the file is replaced by a copy",
    "default.sqlite was replaced by another file",
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
];

for (const [title, cause, change] of changes) {
  test(`D-342: ${title}: without a request the log, status, readyz and the metrics say so, and then nothing is served`, async () => {
    const data = join(temporaryFolder(), "data");
    const plaza = await startWatched(["--data", data]);
    expect(await plaza.createLabel("before")).toBe(200);
    change(join(data, "default.sqlite"));
    const said = await plaza.says(namesProblem("file_changed"));
    expect(said.status).toContain("runs, but it cannot use its database\n");
    expect(said.status).toContain(`the last error: ${cause}`);
    expect(said.readyz.status).toBe(503);
    expect(said.readyz.text).toContain("Stop the server, restore the files from a backup, and start the server again.");
    expect([await plaza.createLabel("after"), await plaza.readLabels()]).toEqual([503, 503]);
  });
}
