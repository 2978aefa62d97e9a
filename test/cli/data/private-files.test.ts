/** Checks that other users of the machine can read nothing that Plaza writes (D-335), even if the umask would allow it. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

const before = process.umask(0o022);
afterEach(() => process.umask(before));

/** Lists the files and folders below a folder that other users than their owner may use, each with its mode. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((path) => {
    const mode = statSync(join(folder, path)).mode & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${path} ${mode.toString(8)}`];
  });
}

const count = (folder: string): number => readdirSync(folder, { recursive: true }).length;

test("D-335: files of plaza are 0600, and its folders 0700", async () => {
  process.umask(0o022);
  const [cwd, tmp] = [newFolder(), newFolder()];
  const env = { TMPDIR: tmp };
  expect((await runPlaza(["init", "--agent"], { cwd, env })).code).toBe(0);
  const server = await startPlaza(["--data", "data", "--recordings", "videos", "--export", "file.json"], { cwd, env });
  const address = `${server.ready.control_url}/v1/worlds`;
  const send = (path: string, body: unknown) =>
    fetch(`${address}${path}`, { method: "POST", headers: { authorization: `Bearer ${server.ready.control_key}` }, body: JSON.stringify(body) });
  expect((await send("", { name: "other" })).status).toBe(201);
  expect((await send("/other/snapshots", { name: "kept" })).status).toBe(201);
  mkdirSync(join(cwd, "backup"));
  expect((await runPlaza(["backup", "backup", "--data", "data"], { cwd, env })).code).toBe(0);
  await startPlaza(["--data", ":memory:"], { cwd, env });
  expect((await server.end()).code).toBe(0);
  expect({ cwd: count(cwd) > 15, tmp: count(tmp) > 3 }).toEqual({ cwd: true, tmp: true });
  // The test itself, not Plaza, has made the folder of the backup.
  expect([...openToOthers(cwd), ...openToOthers(tmp)]).toEqual(["backup 755"]);
});

test("D-335: a command that plaza runs for somebody keeps the umask of this person", async () => {
  process.umask(0o022);
  const cwd = newFolder();
  expect((await runPlaza(["exec", "--", "sh", "-c", "mkdir made"], { cwd })).code).toBe(0);
  expect(statSync(join(cwd, "made")).mode & 0o777).toBe(0o755);
});
