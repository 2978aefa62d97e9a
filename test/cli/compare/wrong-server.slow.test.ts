/** Checks that `plaza conform` finds each fault of a server that has one fault at a time. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, type Ready, runPlaza, startPlaza } from "../plaza-process.ts";
import { faults, wrongly } from "./faults.ts";

/** The time limit of a test: some clauses have more than a hundred cases, and the command starts anew for each fault. */
const TIMEOUT_MS = 180_000;

let server: Ready;
beforeAll(async () => {
  server = (await startPlaza(["--data", ":memory:"])).ready;
}, TIMEOUT_MS);
afterAll(endAll);

/** Returns the exit code, the clauses that the server breaks, and the report files. */
async function checked(base: string, clauses: readonly string[]) {
  const { control_url, control_key } = server;
  const folder = newFolder();
  const files = { junit: join(folder, "r.xml"), html: join(folder, "r.html") };
  const given = ["--base-url", base, "--control-url", control_url, "--control-key", control_key as string];
  const report = ["--json", "--junit", files.junit, "--html", files.html];
  const { code, stdout } = await runPlaza(["conform", ...given, ...clauses.flatMap((clause) => ["--clause", clause]), ...report]);
  const { broken } = JSON.parse(stdout) as { broken: string[] };
  return { code, broken, junit: readFileSync(files.junit, "utf8"), html: readFileSync(files.html, "utf8") };
}

test(
  "a correct server keeps the clauses, even behind the proxy that makes the mistakes",
  async () => {
    const right = await wrongly(server.base_url, undefined);
    const { code, broken } = await checked(
      right.origin,
      faults.map(({ clause }) => clause),
    );
    right.stop();
    expect({ code, broken }).toEqual({ code: 0, broken: [] });
  },
  TIMEOUT_MS,
);

for (const { name, clause, ...fault } of faults)
  test(
    `${clause}: ${name}`,
    async () => {
      const wrong = await wrongly(server.base_url, { name, clause, ...fault });
      const { code, broken, junit, html } = await checked(wrong.origin, [clause]);
      wrong.stop();
      expect({ code, broken }).toEqual({ code: 1, broken: expect.arrayContaining([clause]) });
      expect(junit).toContain("<failure message=");
      expect(html).toContain(`<tr id="${clause}"><td>${clause}</td><td class="broken">not kept`);
    },
    TIMEOUT_MS,
  );
