import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { testOnPostgres } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const LABEL = { id: "77", page: "2001", name: "kept" };
const fileWith = (text: string): string => {
  const file = join(newFolder(), "world.yaml");
  writeFileSync(file, text);
  return file;
};

test("for a person, plaza start prints requests to paste; the first of them is served unchanged", async () => {
  const running = spawnPlaza(["start", "--data", ":memory:", "--port", "0", "--control-port", "0", "--rtmp-port", "off"]);
  let printed = "";
  for await (const part of running.stdout) {
    printed += new TextDecoder().decode(part);
    if (/personas\?.*\n/.test(printed)) break;
  }
  const [, token, address] = /curl -H 'Authorization: Bearer (\S+)' '(\S+)'/.exec(printed) ?? [];
  const response = await fetch(address as string, { headers: { authorization: `Bearer ${token}` } });
  expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200, body: { data: expect.any(Array) } });
});

test("D-352: a secret in a file is the server's, also for the commands that ask it, and one that cannot be read ends the start", async () => {
  const key = fileWith("key-of-the-file\n");
  const plaza = await startPlaza(["--data", ":memory:"], { env: { PLAZA_CONTROL_KEY_FILE: key } });
  expect(plaza.ready.control_key).toBe("key-of-the-file");
  const env = { PLAZA_CONTROL_KEY_FILE: key, PLAZA_CONTROL_URL: plaza.ready.control_url };
  expect(await runPlaza(["status"], { env })).toMatchObject({ code: 0, stderr: "" });
  const refused = await runPlaza(["start", "--data", ":memory:"], { env: { PLAZA_CONTROL_KEY_FILE: "/nowhere/key" } });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toStartWith("plaza: PLAZA_CONTROL_KEY_FILE: /nowhere/key cannot be read: ENOENT");
});

describe("plaza start --json", () => {
  test("writes exactly one line on stdout, with every address; logs are JSON lines on stderr", async () => {
    const plaza = await startPlaza(["--data", ":memory:"]);
    expect(Object.keys(plaza.ready)).toEqual([
      "ready",
      "base_url",
      "app_base_url",
      "microblog_base_url",
      "ads_base_url",
      "social_login_host",
      "control_url",
      "control_key",
      "rtmp_url",
      "pid",
    ]);
    expect(plaza.ready.ready).toBeTrue();
    expect(plaza.ready.pid).toBe(plaza.process.pid);
    expect((await plaza.page("custom_labels")).status).toBe(200);
    const { code, stdout, stderr } = await plaza.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const lines = stderr.trim().split("\n");
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), msg: expect.any(String) });
    expect(stderr).not.toContain(plaza.ready.control_key as string);
    expect(stderr).not.toContain("demo-page-token");
  });

  test("a signal ends it with exit code 0: SIGINT as SIGTERM", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) expect((await (await startPlaza(["--data", ":memory:"])).end(signal)).code).toBe(0);
  });

  test("the documents of the interface are at the graph's address, with the addresses that the client used", async () => {
    const plaza = await startPlaza(["--data", ":memory:"]);
    const base = plaza.ready.base_url;
    const read = async (path: string) => (await (await fetch(`${base}${path}`)).json()) as Record<string, unknown>;
    expect(await read("/openapi.json?surface=ads")).toMatchObject({ openapi: "3.1.0", servers: [{ url: `${base}/ads` }] });
    expect(await read("/openapi.json?surface=none")).toMatchObject({ error: { code: 100, error_data: { parameter: "surface" } } });
    expect(await read("/openapi.json?type=none")).toMatchObject({ error: { code: 100, error_data: { parameter: "type" } } });
    expect(await read("/asyncapi.json")).toMatchObject({ asyncapi: "3.1.0", channels: { page: {}, social: {}, chatapp_business_account: {} } });
    expect((await plaza.end()).code).toBe(0);
  });

  test("after a signal running requests end, and no new one is accepted", async () => {
    const plaza = await startPlaza(["--data", ":memory:"]);
    let isWaiting = true;
    const waiting = plaza.control("POST", "requests/expect", { operation: "none", count: 0, within_ms: 4_000 }).finally(() => {
      isWaiting = false;
    });
    const ask = async () => (await fetch(`${plaza.ready.control_url}/healthz`, { keepalive: false })).ok;
    const isServing = () => ask().catch(() => false);
    // The server accepts connections in order, so the waiting request has arrived as soon as a later request is served.
    for (let n = 0; n < 3; n++) expect(await isServing()).toBe(true);
    const ended = plaza.end();
    while (await isServing()) await Bun.sleep(10);
    expect(isWaiting).toBe(true);
    expect((await waiting).status).toBe(200);
    expect((await ended).code).toBe(0);
  });
});

describe("data", () => {
  test("survives a restart, even after SIGKILL", async () => {
    const data = newFolder();
    for (const [signal, label] of [
      ["SIGTERM", { ...LABEL, id: "77", name: "first" }],
      ["SIGKILL", { ...LABEL, id: "78", name: "second" }],
    ] as const) {
      const plaza = await startPlaza(["--data", data]);
      expect((await plaza.control("POST", "nodes/labels", label)).status).toBe(201);
      await plaza.end(signal);
    }
    const plaza = await startPlaza(["--data", data]);
    for (const id of ["77", "78"]) expect((await plaza.control("GET", `nodes/labels/${id}`)).status).toBe(200);
    // The secret is sealed with the folder's own key.
    expect((await plaza.control("GET", "nodes/apps/1001")).body.secret).toBe("demo-app-secret");
    expect((await plaza.page("custom_labels")).status).toBe(200);
  });

  test("a folder in use is refused, and its server continues", async () => {
    const data = newFolder();
    const plaza = await startPlaza(["--data", data]);
    const second = await runPlaza(["start", "--json", "--port", "0", "--control-port", "0", "--data", data]);
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toContain(`in use by another running process (${plaza.ready.pid})`);
    expect(second.stderr).toContain(`plaza: the other server is at ${plaza.ready.base_url}; plaza stop ends that server\n`);
    expect((await plaza.control("GET", "clock")).status).toBe(200);
  });

  test("of two starts at the same moment one serves, and the other says where", async () => {
    const data = newFolder();
    const options = ["start", "--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off", "--data", data];
    const both = [spawnPlaza(options), spawnPlaza(options)];
    const refused = await Promise.race(both.map(async (one) => ((await one.exited) === 2 ? one : undefined)));
    const { base_url } = JSON.parse(await Bun.file(join(data, "server.json")).text());
    expect(await new Response(refused?.stderr).text()).toContain(`plaza: the other server is at ${base_url}; plaza stop ends that server\n`);
  });

  test("is stored in .plaza by default, readable only by its owner", async () => {
    const cwd = newFolder();
    await (await startPlaza([], { cwd })).end();
    expect(existsSync(join(cwd, ".plaza/default.sqlite"))).toBeTrue();
    expect(Bun.file(join(cwd, ".plaza/secret.key")).size).toBeGreaterThan(0);
  });
});

describe("world files", () => {
  test("one replaces the demo world", async () => {
    const plaza = await startPlaza(["--data", ":memory:", "--world", fileWith("pages: [{id: 4711}]")]);
    expect((await plaza.control("GET", "nodes/pages")).body.data).toMatchObject([{ id: "4711" }]);
  });

  test("data is not touched without --import, and merged with it", async () => {
    const data = newFolder();
    const file = fileWith("pages: [{id: 2001, name: Renamed}, {id: 2002}]");
    await (await startPlaza(["--data", data])).end();
    const refused = await runPlaza(["start", "--json", "--data", data, "--world", file]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("--import");
    const plaza = await startPlaza(["--data", data, "--world", file, "--import"]);
    expect((await plaza.control("GET", "nodes/pages/2001")).body.name).toBe("Renamed");
    expect((await plaza.control("GET", "nodes/pages/2002")).status).toBe(200);
    expect((await plaza.control("GET", "nodes/labels/5001")).status).toBe(200);
  });

  test("a wrong one: exit code 2, one line naming path and line, and the data stays empty", async () => {
    const data = newFolder();
    const refused = await runPlaza([
      "start",
      "--json",
      "--data",
      data,
      "--world",
      fileWith("pages: [{id: 1}]\nlabels:\n- {id: 2, page: 3, name: x}"),
    ]);
    expect(refused).toEqual({ code: 2, stdout: "", stderr: "plaza: labels[0].page refers to 3, which does not exist (line 3)\n" });
    const plaza = await startPlaza(["--data", data, "--world", fileWith("pages: [{id: 1}]")]);
    expect((await plaza.control("GET", "nodes/pages/1")).status).toBe(200);
  });

  test("the profile of a world is kept, and a flag has precedence over it", async () => {
    const data = newFolder();
    const profileOf = async (...args: string[]) => {
      const plaza = await startPlaza(["--data", data, ...args]);
      const { profile } = (await plaza.control("GET", "export")).body;
      await plaza.end();
      return profile;
    };
    expect(await profileOf("--world", fileWith("profile: clients\npages: [{id: 1}]"))).toBe("clients");
    expect(await profileOf()).toBe("clients");
    expect(await profileOf("--profile", "strict")).toBe("strict");
  });

  test("--seed creates the same ids and tokens each time", async () => {
    const minted = async () => {
      const plaza = await startPlaza(["--data", ":memory:", "--seed", "7"]);
      return [
        (await plaza.control("POST", "nodes/labels", { page: "2001", name: "x" })).body,
        (await plaza.control("POST", "tokens", { type: "app", app: "1001", issued_at: 1 })).body,
      ];
    };
    expect(await minted()).toEqual(await minted());
  });

  test("--seed continues after the earlier ids when the data is opened again", async () => {
    const data = newFolder();
    const minted = async (name: string) => {
      const plaza = await startPlaza(["--data", data, "--seed", "7"]);
      const { id } = (await plaza.control("POST", "nodes/labels", { page: "2001", name })).body;
      await plaza.end();
      return BigInt(id as string);
    };
    const first = await minted("first");
    // Each start of the server has its own range of ids. So ids that do not belong to nodes are not used twice either, although no table
    // records them.
    expect((await minted("second")) - first).toBeGreaterThan(900_000_000n);
  });
});

describe("without the sandbox", () => {
  const env = { PLAZA_CONTROL_KEY: "a-key-that-the-operator-chose" };

  test("no secret is printed, and no demo world is loaded", async () => {
    const plaza = await startPlaza(["--data", ":memory:", "--no-sandbox"], { env });
    expect(plaza.ready).not.toHaveProperty("control_key");
    expect((await plaza.control("GET", "nodes/apps", undefined, env.PLAZA_CONTROL_KEY)).body.data).toEqual([]);
    const { stdout, stderr } = await plaza.end();
    expect(stdout + stderr).not.toContain(env.PLAZA_CONTROL_KEY);
  });

  test("LIVE-24: a viewer cannot choose the country, as in a sandbox", async () => {
    const video = { id: "5303", page: "2001", status: "VOD", embeddable: true, targeting: { geo_locations: { countries: ["DE"] } } };
    const world = fileWith(JSON.stringify({ pages: [{ id: "2001" }], live_videos: [video] }));
    for (const [status, ...flags] of [[200], [403, "--no-sandbox"]] as const) {
      const { ready } = await startPlaza(["--data", ":memory:", "--world", world, ...flags], { env });
      expect((await fetch(`${ready.base_url}/player/5303?country=DE`)).status).toBe(status);
    }
  });

  test("a control key is required", async () => {
    expect((await runPlaza(["start", "--no-sandbox"])).code).toBe(2);
  });
});

/** The address of the test's PostgreSQL cluster with another database or user. */
async function changed(url: string, statement: string, change: (address: URL) => void): Promise<string> {
  const client = new Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
  const address = new URL(url);
  change(address);
  return address.href;
}

const databaseInLatin1 = (url: string): Promise<string> =>
  changed(url, "CREATE DATABASE latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", (address) => {
    address.pathname = "/latin1";
  });

const userWithoutRights = (url: string): Promise<string> =>
  changed(url, "DROP ROLE IF EXISTS without_rights; CREATE ROLE without_rights LOGIN", (address) => {
    address.username = "without_rights";
  });

describe("a wrong option is one line on stderr and exit code 2", () => {
  const cases: [args: string[], message: string][] = [
    [["--port", "abc"], '--port: "abc" is not an integer from 0 to 65535'],
    [["--workers", "2"], "--workers: 2 processes cannot share"],
    [["--world", "/nowhere/world.yaml"], "--world: /nowhere/world.yaml cannot be read"],
    [["--colour"], "unknown option '--colour'"],
    [["now"], "too many arguments"],
  ];
  for (const [args, message] of cases) {
    test(args.join(" "), async () => {
      const { code, stdout, stderr } = await runPlaza(["start", "--json", "--data", ":memory:", "--port", "0", "--control-port", "0", ...args]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
    });
  }

  test("a port in use", async () => {
    const plaza = await startPlaza(["--data", ":memory:"]);
    const { port } = new URL(plaza.ready.base_url);
    const { code, stderr } = await runPlaza(["start", "--data", ":memory:", "--port", port, "--control-port", "0"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`^plaza: --port: 127.0.0.1:${port} is in use by another program; [^\n]+\n$`)),
    });
  });

  testOnPostgres("unreachable services are reported, without the password of an address", async () => {
    const file = fileWith("users: []");
    const url = await (await sharedPostgres()).newDatabase();
    const withPassword = url.replace("postgres@", "postgres:hidden@");
    expect(withPassword).toContain(":hidden@");
    await (await startPlaza(["--data", url])).end();
    const cases: [args: string[], said: string][] = [
      [["--data", "postgres://nobody:hidden@127.0.0.1:1/none"], "the database cannot be reached"],
      [["--data", url.replace(/test_\d+/, "nowhere")], 'database "nowhere" does not exist'],
      [["--data", withPassword, "--world", file], "add --import to merge"],
      [["--data", await databaseInLatin1(url)], "the encoding of the database is LATIN1: give Plaza a database with the encoding UTF8"],
      [["--data", await userWithoutRights(url)], "the database user needs the rights USAGE and CREATE on the schema"],
      [["--data", await userWithoutRights(await (await sharedPostgres()).newDatabase())], "permission denied for database"],
      [["--data", `${url}?sslmode=no-verify`], "sslmode=no-verify is not one of disable, allow"],
      [["--data", "/sys/plaza"], "/sys/plaza"],
      [["--data", file], file],
      [["--data", ":memory:", "--host", ".."], "--host: the host name .. has no address"],
    ];
    for (const [args, said] of cases) {
      const { code, stdout, stderr } = await runPlaza(["start", "--json", "--port", "0", "--control-port", "0", ...args]);
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/^plaza: [^\n]+\n$/) });
      expect(stderr).toContain(said);
      expect(stderr).not.toContain("hidden");
    }
  });

  test("also from the environment and the config file", async () => {
    const cwd = newFolder();
    expect(await runPlaza(["start"], { cwd, env: { PLAZA_PORT: "x" } })).toMatchObject({ code: 2, stderr: expect.stringContaining("PLAZA_PORT") });
    // Another program's variable may begin with the same letters, so an unknown variable is not an error.
    const warned = await startPlaza(["--data", ":memory:"], { env: { PLAZA_PROT: "4000" } });
    expect((await warned.end()).stderr).toContain("Plaza does not read the variable PLAZA_PROT; did you mean PLAZA_PORT?");
    writeFileSync(join(cwd, "plaza.config.yaml"), "prot: 1\n");
    expect(await runPlaza(["start"], { cwd })).toMatchObject({
      code: 2,
      stderr: "plaza: prot in plaza.config.yaml: there is no such option; did you mean port?\n",
    });
  });

  test("an unknown command", async () => {
    expect((await runPlaza(["halt"])).code).toBe(2);
  });

  test("help is not an error", async () => {
    for (const args of [["--help"], ["start", "--help"], ["token", "mint", "--help"], ["--version"]]) {
      const { code, stdout, stderr } = await runPlaza(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    }
  });
});
