import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settings } from "#features";
import { defaultLimits } from "#http/limits";
import { ConfigProblem } from "./config.ts";
import { flagOf, variableOf } from "./option.ts";
import { optionsWith } from "./options.ts";
import { type ConfigFile, readConfig as readConfigWith, type Values } from "./read-config.ts";
import { keyRingOf } from "./secret-key.ts";

const file = (values: Record<string, unknown>) => ({ path: "plaza.config.yaml", values });
const readConfig = (flags: Values, environment: Values, from: ConfigFile | undefined) => readConfigWith(flags, environment, from, settings);
const problemOf = (flags: Record<string, unknown>, environment: Record<string, unknown> = {}, values?: Record<string, unknown>): string => {
  try {
    readConfig(flags, environment, values === undefined ? undefined : file(values));
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigProblem);
    return (error as ConfigProblem).message;
  }
  throw new Error("nothing was refused");
};

describe("the source of a value", () => {
  test("a flag has precedence over the environment, then the file, then the default", () => {
    const environment = { PLAZA_PORT: "2", PLAZA_CONTROL_PORT: "22" };
    const config = readConfig({ port: "1" }, environment, file({ port: 3, control_port: 33, host: "0.0.0.0" }));
    expect(config).toMatchObject({ port: 1, control_port: 22, host: "0.0.0.0", control_host: "127.0.0.1" });
  });

  test("the defaults are those in the table of commands", () => {
    expect(readConfig({}, {}, undefined)).toMatchObject({
      port: 4000,
      control_port: 4001,
      host: "127.0.0.1",
      data: ".plaza",
      sandbox: true,
      workers: 1,
      rtmp_port: undefined,
      recordings_bytes_max: 0,
      app_calls_per_hour: 0,
      deliveries_per_second: 0,
      settings: { labels_per_page_max: 5000, app_event_days: 90, feed_file_bytes_max: 4_294_967_296 },
    });
  });

  test("the limits of requests are the listener's own defaults", () => {
    const config = readConfig({}, {}, undefined);
    expect(defaultLimits).toMatchObject({
      bodyBytesMax: config.body_bytes_max,
      headerBytesMax: config.header_bytes_max,
      headMsMax: config.head_ms_max,
      bodyMsMax: config.body_ms_max,
      keepAliveMs: config.keep_alive_ms,
      requestsMax: config.calls_max,
    });
  });

  test("an empty variable, or a key without a value, counts as absent", () => {
    expect(readConfig({}, { PLAZA_PORT: "" }, file({ host: null }))).toMatchObject({ port: 4000, host: "127.0.0.1" });
  });

  test("the settings of features are read like other options", () => {
    const read = readConfig({ app_event_days: "7" }, { PLAZA_LABELS_PER_PAGE_MAX: "10" }, undefined);
    expect(read.settings).toMatchObject({ labels_per_page_max: 10, app_event_days: 7 });
    expect(readConfig({}, {}, file({ "labels-per-page-max": 11 })).settings).toMatchObject({ labels_per_page_max: 11 });
    expect(problemOf({ labels_per_page_max: "0" })).toStartWith("--labels-per-page-max: ");
  });

  test("keys of the file may be written like flags", () => {
    expect(readConfig({}, {}, file({ "control-port": 5 })).control_port).toBe(5);
  });

  test("every option can be in all three places", () => {
    for (const { name } of optionsWith(settings)) {
      expect(flagOf(name)).toMatch(/^--[a-z-]+$/);
      expect(variableOf(name)).toMatch(/^PLAZA_[A-Z_]+$/);
    }
  });
});

describe("the forms of values", () => {
  test("lists are repeated flags, or text with commas", () => {
    const expected = ["10.0.0.0/8", "receiver"];
    expect(readConfig({ allow_callback: ["10.0.0.0/8", "receiver"] }, {}, undefined).allow_callback).toEqual(expected);
    expect(readConfig({}, { PLAZA_ALLOW_CALLBACK: "10.0.0.0/8, receiver" }, undefined).allow_callback).toEqual(expected);
    expect(readConfig({}, {}, file({ allow_callback: ["10.0.0.0/8", "receiver"] })).allow_callback).toEqual(expected);
  });

  test("origins and hosts of web pages: as browsers write them", () => {
    const { allow_origin, allow_host } = readConfig(
      { allow_origin: ["HTTPS://App.example:443/", "null"], allow_host: ["Plaza", "::1"] },
      {},
      undefined,
    );
    expect({ allow_origin, allow_host }).toEqual({ allow_origin: ["https://app.example", "null"], allow_host: ["plaza", "[::1]"] });
    const variables = { PLAZA_ALLOW_ORIGIN: "http://a:1, http://b", PLAZA_ALLOW_HOST: "10.0.0.1,[fd00::1]" };
    expect(readConfig({}, variables, undefined)).toMatchObject({ allow_origin: ["http://a:1", "http://b"], allow_host: ["10.0.0.1", "[fd00::1]"] });
    for (const wrong of ["app.example", "https://app.example/x", "*", ""]) expect(problemOf({ allow_origin: wrong })).toStartWith("--allow-origin: ");
    for (const wrong of ["plaza:4000", "http://plaza", "a b", "[::1]:80", "*", ""])
      expect(problemOf({ allow_host: wrong })).toStartWith("--allow-host: ");
  });

  test("hosts of surfaces: pairs, or a map in the file", () => {
    const expected = { app: "app.example.com", ads: "ads.example.com" };
    expect(readConfig({ surface_hosts: ["app=app.example.com", "ads=ADS.example.com"] }, {}, undefined).surface_hosts).toEqual(expected);
    expect(readConfig({}, {}, file({ surface_hosts: expected })).surface_hosts).toEqual(expected);
  });

  test("the public address is http or https, without a slash at the end of its path", () => {
    const read = (public_url: string) => readConfig({ public_url }, {}, undefined).public_url;
    expect(readConfig({}, {}, undefined).public_url).toBeUndefined();
    expect(read("HTTPS://Graph.example:443/")).toBe("https://graph.example");
    expect(read("http://[::1]:8080/plaza//")).toBe("http://[::1]:8080/plaza");
    for (const wrong of [
      "graph.example",
      "ftp://graph.example",
      "https://u:p@graph.example",
      "https://graph.example/?a=1",
      "https://graph.example/#a",
      "javascript:1",
    ])
      expect(problemOf({ public_url: wrong })).toStartWith("--public-url: ");
  });

  test("--trace-ratio requires a collector, whose address has no path of the traces", () => {
    const otlp_endpoint = "http://localhost:4318";
    expect(readConfig({ otlp_endpoint, trace_ratio: "0.1" }, {}, undefined)).toMatchObject({ otlp_endpoint, trace_ratio: 0.1 });
    expect(problemOf({ trace_ratio: "0.1" })).toBe("--trace-ratio: requires --otlp-endpoint URL");
    expect(problemOf({ otlp_endpoint: `${otlp_endpoint}/v1/traces` })).toBe(
      "--otlp-endpoint: must not end in /v1/traces, because Plaza adds /v1/traces",
    );
  });

  test("live ingest can be disabled", () => {
    for (const off of ["off", false]) expect(readConfig({}, {}, file({ rtmp_port: off })).rtmp_port).toBe("off");
  });

  test("an operator's media server is an address to which keys are added", () => {
    expect(readConfig({ rtmp_url: "rtmps://media.example:1936/live/" }, {}, undefined).rtmp_url).toBe("rtmps://media.example:1936/live");
  });

  test("the secret key has 32 bytes in hex or base64", () => {
    const bytes = new Uint8Array(32).fill(9);
    for (const form of ["hex", "base64", "base64url"] as const) {
      expect(readConfig({}, { PLAZA_SECRET_KEY: Buffer.from(bytes).toString(form) }, undefined).secret_key).toEqual(bytes);
    }
  });
});

describe("a wrong option is named with its value", () => {
  const cases: [flags: Record<string, unknown>, environment: Record<string, unknown>, message: string][] = [
    [{ port: "abc" }, {}, '--port: "abc" is not an integer from 0 to 65535'],
    [{}, { PLAZA_CONTROL_PORT: "70000" }, 'PLAZA_CONTROL_PORT: "70000" is not an integer from 0 to 65535'],
    [{ port: "1e3" }, {}, '--port: "1e3"'],
    [{ port: "-1" }, {}, '--port: "-1"'],
    [{ profile: "loose" }, {}, '--profile: "loose" is not one of strict, clients'],
    [{ rtmp_port: "on" }, {}, '--rtmp-port: "on" is not a port from 0 to 65535, or off'],
    [{ rtmp_url: "http://media.example/live" }, {}, '--rtmp-url: "http://media.example/live" is not an address such as rtmp://'],
    [{ data: "mysql://x" }, {}, "--data: the only database address that Plaza supports is postgres://…"],
    [{ databases: ["eu1=mysql://u:p@x/y"] }, {}, '--databases: "eu1=…" is not name=postgres://…'],
    [{ databases: ["eu1=postgres://x/y", "eu1=postgres://z/y"] }, {}, "--databases: eu1 has the name or the address of another database"],
    [{ databases: ["eu1=postgres://x/y"], data: "postgres://x/z" }, {}, "--databases: cannot be combined with --data"],
    [{ allow_callback: ["10.0.0.0/33"] }, {}, '--allow-callback: "10.0.0.0/33"'],
    [{ trusted_proxies: ["proxy"] }, {}, '--trusted-proxies: "proxy"'],
    [{ surface_hosts: ["pages=x"] }, {}, "--surface-hosts:"],
    [{ surface_hosts: ["app=x.example=y"] }, {}, "--surface-hosts:"],
    [{ surface_hosts: ["app=x.example", "ads=x.example"] }, {}, "--surface-hosts: two surfaces cannot have the same host name"],
    [{ workers: "2" }, {}, "--workers: 2 processes cannot share"],
    [{ workers: "0" }, {}, '--workers: "0"'],
    [{ sandbox: false }, {}, "--no-sandbox: requires a control key in PLAZA_CONTROL_KEY"],
    [{ sandbox: false }, { PLAZA_CONTROL_KEY: "short" }, "PLAZA_CONTROL_KEY: must have 16 characters or more"],
    [{}, { PLAZA_SANDBOX: "no" }, 'PLAZA_SANDBOX: "no" is not true or false'],
    [
      { data: "postgres://x/y", sandbox: false },
      { PLAZA_CONTROL_KEY: "0123456789abcdef" },
      "--data: postgres:// with --no-sandbox requires PLAZA_SECRET_KEY",
    ],
    [{}, { PLAZA_SECRET_KEY: "zz" }, "PLAZA_SECRET_KEY: must be 32 bytes in hex or base64"],
    [{ import: true }, {}, "--import: requires --world FILE"],
    [{ watch: true }, {}, "--watch: requires --world FILE"],
    [{ export_secrets: true }, {}, "--export-secrets: requires --export FILE"],
    [{ log_level: "loud" }, {}, '--log-level: "loud" is not one of'],
  ];
  for (const [flags, environment, message] of cases) {
    test(message, () => {
      const problem = problemOf(flags, environment);
      expect(problem).toStartWith(message);
      expect(problem).not.toContain("\n");
    });
  }

  test("an option that needs another one is accepted only with it", () => {
    const world = { world: "world.yaml" };
    const together = [
      { ...world, import: true },
      { ...world, watch: true },
      { export: "world.yaml", export_secrets: true },
    ];
    for (const flags of together) expect(readConfig(flags, {}, undefined)).toMatchObject(flags);
  });

  test("a key of the file that is not an option", () => {
    expect(problemOf({}, {}, { prot: 1 })).toBe("prot in plaza.config.yaml: there is no such option; did you mean port?");
    expect(problemOf({}, {}, { port: "x" })).toStartWith('port in plaza.config.yaml: "x"');
  });

  test("a secret's value is never shown", () => {
    expect(problemOf({}, { PLAZA_SECRET_KEY: "my-secret" })).not.toContain("my-secret");
    expect(problemOf({}, { PLAZA_CONTROL_KEY: "my secret" })).not.toContain("my secret");
  });
});

describe("the master key", () => {
  const random = (count: number) => new Uint8Array(count).map(() => Math.floor(Math.random() * 256));
  const at = (data: string) => readConfig({ data }, {}, undefined);

  test("a folder creates its own once, readable only by its owner", () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-config-"));
    try {
      const key = keyRingOf(at(folder), random).current;
      expect(key).toHaveLength(32);
      expect(keyRingOf(at(folder), random).current).toEqual(key);
      expect(statSync(join(folder, "secret.key")).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(["secret.key"]);
      expect(Buffer.from(readFileSync(join(folder, "secret.key"), "utf8"), "base64")).toHaveLength(32);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("D-171: a replaced key stays in the file until its time has passed, readable only by the owner", () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-config-"));
    try {
      const ring = keyRingOf(at(folder), random);
      const first = ring.current;
      ring.rotate(5_000);
      const second = ring.current;
      ring.rotate(9_000);
      const expected = {
        previous: [
          { key: second, untilMs: 9_000 },
          { key: first, untilMs: 5_000 },
        ],
      };
      expect(ring).toMatchObject(expected);
      expect(keyRingOf(at(folder), random)).toMatchObject({ current: ring.current, ...expected });
      expect(statSync(join(folder, "secret.key")).mode & 0o777).toBe(0o600);
      ring.retire(5_000);
      expect(keyRingOf(at(folder), random).previous).toEqual([{ key: second, untilMs: 9_000 }]);
      ring.retire(9_000);
      expect(Buffer.from(readFileSync(join(folder, "secret.key"), "utf8"), "base64")).toEqual(Buffer.from(ring.current));
      expect(readdirSync(folder)).toEqual(["secret.key"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("D-171: further keys of the configuration only open secrets", () => {
    const [one, two] = [random(32), random(32)].map((key) => Buffer.from(key).toString("base64"));
    const config = readConfig({}, { PLAZA_SECRET_KEY: one, PLAZA_FURTHER_SECRET_KEYS: `${two},${one}` }, undefined);
    const ring = keyRingOf(config, random);
    expect(Buffer.from(ring.current).toString("base64")).toBe(one as string);
    expect(ring.previous.map(({ key, untilMs }) => [Buffer.from(key).toString("base64"), untilMs])).toEqual([
      [two, undefined],
      [one, undefined],
    ]);
    ring.retire(Number.MAX_SAFE_INTEGER);
    expect(ring.previous).toHaveLength(2);
    expect(() => ring.rotate(1)).toThrow("can be replaced only in the configuration");
    expect(problemOf({}, { PLAZA_FURTHER_SECRET_KEYS: "zz" })).toStartWith("PLAZA_FURTHER_SECRET_KEYS: must be 32 bytes");
  });

  test("data whose key is lost does not get another one", () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-config-"));
    try {
      writeFileSync(join(folder, "default.sqlite"), "");
      expect(() => keyRingOf(at(folder), random)).toThrow(ConfigProblem);
      expect(readdirSync(folder)).toEqual(["default.sqlite"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("data in memory has a new key each time; processes on PostgreSQL have the same", () => {
    expect(keyRingOf(at(":memory:"), random).current).not.toEqual(keyRingOf(at(":memory:"), random).current);
    expect(keyRingOf(at("postgres://a/b"), random).current).toEqual(keyRingOf(at("postgres://a/b"), random).current);
  });
});

test("D-420: databases are a list, a map or text with their names, and the first one takes the place of --data", () => {
  const [one, two] = ["postgres://u@a:1,b:2/d?sslmode=require", "postgresql://c/d"];
  const expected = [
    { name: "eu1", url: one },
    { name: "eu2", url: two },
  ];
  for (const databases of [[`eu1=${one}`, `eu2=${two}`], { eu1: one, eu2: two }, `eu1=${one},eu2=${two}`, `eu1=${one}\n\n  eu2=${two}\n`])
    expect(readConfig({ databases }, {}, undefined)).toMatchObject({ databases: expected, data: one });
});
