/** The findings of `plaza doctor`, and which of them are problems. */
import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { controlStub } from "#harness/cli/control-stub";
import { printedBy, written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { version } from "#package.json";
import { openFilesMax } from "#system";
import { doctor } from "./doctor.ts";

beforeEach(() => variables({ PLAZA_PORT: "0", PLAZA_CONTROL_PORT: "0", PLAZA_DISK_RESERVE_BYTES: "1" }));

async function found(given: Readonly<Record<string, unknown>>) {
  const streams = written();
  const code = await doctor(given);
  expect(streams.err).toBe("");
  const lines = streams.out.trimEnd().split("\n");
  return { code, lines, about: (subject: string) => lines.filter((line) => line.slice(9).startsWith(`${subject}:`)) };
}

test("every line says ok for a correct folder", async () => {
  const data = temporaryFolder();
  writeFileSync(join(data, "secret.key"), "", { mode: 0o600 });
  const { code, lines } = await found({ data });
  expect({ code, lines }).toEqual({
    code: 0,
    lines: [
      `ok       Plaza ${version} on Bun ${process.versions.bun}, ${process.platform} ${process.arch}`,
      "ok       configuration: no plaza.config.yaml in this folder",
      "ok       server: no server runs on the data",
      `ok       data: the folder ${data}`,
      expect.stringMatching(/^ok {7}limits: \d+ open files, enough for \d+ connections$/),
    ],
  });
});

test("--json has an object for each finding", async () => {
  const { code, lines } = await found({ data: ":memory:", json: true });
  expect({ code, printed: lines.map((line) => printedBy("doctor", line)) }).toMatchObject({
    code: 0,
    printed: [{ health: "ok", text: expect.stringContaining("Plaza") }, ...Array(lines.length - 1).fill({ health: "ok" })],
  });
});

describe("of the configuration", () => {
  test("it names the file and the mistake, and checks nothing else", async () => {
    const config = join(temporaryFolder(), "own.yaml");
    writeFileSync(config, "data: ':memory:'\n");
    expect((await found({ config })).about("configuration")).toEqual([`ok       configuration: ${config} is in order`]);
    writeFileSync(config, "port: many\n");
    variables({ PLAZA_PORT: undefined });
    const { code, lines } = await found({ config });
    expect({ code, lines: lines.slice(1) }).toEqual({ code: 1, lines: [expect.stringContaining(`problem  configuration: port in ${config}`)] });
  });

  test("an unused variable is a warning, which stops nothing", async () => {
    variables({ PLAZA_PROT: "1" });
    const { code, about } = await found({ data: ":memory:" });
    expect({ code, lines: about("configuration") }).toEqual({
      code: 0,
      lines: [expect.any(String), expect.stringContaining("warning  configuration: Plaza does not read the variable PLAZA_PROT")],
    });
  });
});

describe("of a server", () => {
  const server = { pid: 7, base_url: "http://g", version };
  const respond =
    (more: object, isReady = true, callbacks: object[] = []) =>
    ({ path }: { path: string }) => {
      if (path === "/v1/server") return { ...server, ...more };
      if (path === "/readyz") return new Response(null, { status: isReady ? 200 : 503 });
      return { data: path.includes("/callbacks?") ? callbacks : [] };
    };

  test("it reports that the server serves, and does not try the server's ports", async () => {
    const { given } = controlStub(respond({}));
    variables({ PLAZA_PORT: new URL(given.control_url).port });
    const { code, about } = await found({ ...given, data: ":memory:" });
    expect({ code, server: about("server"), ports: about("ports") }).toEqual({
      code: 0,
      server: ["ok       server: process 7 serves http://g"],
      ports: [],
    });
  });

  test("another version and a failing callback are warnings", async () => {
    const { given } = controlStub(respond({ version: "0.0.1" }, true, [{ url: "http://a/", status: "paused" }]));
    const { code, about } = await found({ ...given, data: ":memory:" });
    expect({ code, server: about("server").slice(1), webhooks: about("webhooks") }).toEqual({
      code: 0,
      server: [`warning  server: the server has version 0.0.1, and this command has version ${version}: restart the server`],
      webhooks: ["warning  webhooks: the callback http://a/ is paused; plaza deliveries list --callback http://a/ shows why"],
    });
  });

  test("a server without its database, a refusing one and a missing one are problems", async () => {
    const { given } = controlStub(respond({}, false));
    const without = await found({ ...given, data: ":memory:" });
    expect([without.code, ...without.about("server")]).toEqual([
      1,
      "problem  server: process 7 serves http://g, but cannot use its database; see its log",
    ]);
    const damaged = controlStub(({ path }) =>
      path.endsWith("/alerts")
        ? {
            data: [
              { kind: "database_disk_full", level: "error", text: "The disk is full." },
              { kind: "fault", level: "notice", text: "a fault" },
            ],
          }
        : respond({})({ path }),
    );
    expect((await found({ ...damaged.given, data: ":memory:" })).about("database")).toEqual(["problem  database: The disk is full."]);
    const refusing = controlStub(() => Response.json({ error: { message: "the control key is wrong" } }, { status: 401 }));
    const refused = await found({ ...refusing.given, data: ":memory:" });
    expect([refused.code, ...refused.about("server")]).toEqual([1, "problem  server: the control key is wrong"]);
    const away = await found({ control_url: "http://127.0.0.1:1", control_key: "k", data: ":memory:" });
    expect([away.code, ...away.about("server")]).toEqual([1, "problem  server: --control-url: no server listens at http://127.0.0.1:1"]);
  });
});

describe("of the data", () => {
  test.each<[data: string, line: string]>([
    [":memory:", "ok       data: in memory, and deleted when the server ends"],
    ["postgres://h/d", "ok       data: PostgreSQL; a running server reports at /readyz whether it reaches the database"],
  ])("%s has no folder", async (data, line) => {
    expect((await found({ data })).about("data")).toEqual([line]);
  });

  test("the folder need not exist, and is not created", async () => {
    const data = join(temporaryFolder(), "data");
    expect((await found({ data })).about("data")).toEqual([`ok       data: the first start creates the folder ${data}`]);
    expect(existsSync(data)).toBe(false);
  });

  test.each(["secret.key", "control.key"])("%s is readable only by the user", async (name) => {
    const data = temporaryFolder();
    const file = join(data, name);
    writeFileSync(file, "a-control-key-of-24-chars-x\n");
    for (const mode of [0o640, 0o604, 0o610]) {
      chmodSync(file, mode);
      const { code, about } = await found({ data });
      expect([code, ...about("data").slice(1)]).toEqual([1, `problem  data: other users may read ${file}: run chmod 600 ${file}`]);
    }
    chmodSync(file, 0o700);
    expect((await found({ data })).code).toBe(0);
  });

  test("a disk with less than the reserve is a warning, in MB", async () => {
    variables({ PLAZA_DISK_RESERVE_BYTES: "9000000000000000" });
    const { code, about } = await found({ data: temporaryFolder() });
    expect({ code, line: about("data")[1] }).toEqual({
      code: 0,
      line: expect.stringMatching(/^warning {2}data: \d{1,9} MB of disk are free; recordings of live video end below 9000000000 MB$/),
    });
  });
});

test("too few open files are a warning with the number of accepted connections", async () => {
  const files = openFilesMax() as number;
  variables({ PLAZA_CONNECTIONS_MAX: "2000000000" });
  const { code, about } = await found({ data: ":memory:" });
  expect({ code, lines: about("limits") }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(
        new RegExp(`^warning {2}limits: with ${files} open files \\(ulimit -n\\) Plaza accepts \\d+ connections instead of 2000000000$`),
      ),
    ],
  });
});

test("a port of another program is a problem; a free one is reported as free, and stays free", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = Number(free.port);
  await free.stop(true);
  variables({ PLAZA_PORT: String(other.port), PLAZA_CONTROL_PORT: String(port) });
  const { code, about } = await found({ data: ":memory:" });
  expect({ code, lines: about("ports") }).toEqual({
    code: 1,
    lines: [
      expect.stringContaining(`problem  ports: --port: 127.0.0.1:${other.port} is in use by another program`),
      `ok       ports: 127.0.0.1:${port} is free`,
    ],
  });
  await other.stop(true);
  await Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() }).stop(true);
});
