/** D-344: a start with a sealing key that opens no secret of the data is refused, on both databases. */
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onEachDatabase } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

const [ONE, OTHER] = ["11".repeat(32), "22".repeat(32)];
const PORTS = ["--port", "0", "--control-port", "0", "--rtmp-port", "off"];

onEachDatabase("D-344: a start with another key", (kind) => {
  test("ends with exit code 2 and a sentence, unless the key of the data is among the further ones", async () => {
    const data = kind === "sqlite" ? join(newFolder(), "data") : await (await sharedPostgres()).newDatabase();
    const withKey = (key: string, further = "") => ({ env: { PLAZA_SECRET_KEY: key, PLAZA_FURTHER_SECRET_KEYS: further } });
    expect((await (await startPlaza(["--data", data], withKey(ONE))).end()).code).toBe(0);
    expect(await runPlaza(["start", "--data", data, ...PORTS], withKey(OTHER))).toEqual({
      ...{ code: 2, stdout: "" },
      stderr:
        "plaza: PLAZA_SECRET_KEY: the key cannot decrypt the stored secrets: set the key that encrypted them, or add that key to PLAZA_FURTHER_SECRET_KEYS\n",
    });
    expect((await (await startPlaza(["--data", data], withKey(OTHER, ONE))).end()).code).toBe(0);
  });
});

test("D-344: a key file of other data is named", async () => {
  const data = join(newFolder(), "data");
  expect((await (await startPlaza(["--data", data])).end()).code).toBe(0);
  copyFileSync(join(data, "secret.key"), join(data, "kept"));
  writeFileSync(join(data, "secret.key"), `${Buffer.alloc(32, 3).toString("base64")}\n`);
  const { code, stderr } = await runPlaza(["start", "--data", data, ...PORTS]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `plaza: --data: the key in ${data}/secret.key cannot decrypt the stored secrets: restore the file from its backup\n`,
  });
  copyFileSync(join(data, "kept"), join(data, "secret.key"));
  expect((await (await startPlaza(["--data", data])).end()).code).toBe(0);
});
