/** Checks the addresses that a server shows: without a proxy, behind a proxy, with host names of its own, and on all addresses of the machine. */
import { describe, expect, test } from "bun:test";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import type { Streaming } from "#graph/worlds/world";
import { describeServer, readyInfo, servedBy, surfaceAddresses } from "./ready-info.ts";

const KEY = "0123456789abcdef";
const configOf = (flags: Readonly<Record<string, unknown>> = {}) => readConfig(flags, { PLAZA_CONTROL_KEY: KEY }, undefined, settings);
const tls = { tls_cert: "cert.pem", tls_key: "key.pem" };
const streaming = (more: object): Streaming => more as Streaming;

describe("the ready line", () => {
  test("names all addresses, the key of a sandbox, and the process", () => {
    expect(readyInfo(configOf(), 4000, 4001, "the key", undefined)).toEqual({
      ready: true,
      base_url: "http://127.0.0.1:4000",
      app_base_url: "http://127.0.0.1:4000/app",
      microblog_base_url: "http://127.0.0.1:4000/microblog/v1.0",
      ads_base_url: "http://127.0.0.1:4000/ads",
      social_login_host: "http://127.0.0.1:4000/social-login",
      control_url: "http://127.0.0.1:4001",
      control_key: "the key",
      rtmp_url: null,
      pid: process.pid,
    });
    expect(readyInfo(configOf({ sandbox: false }), 1, 2, "the key", undefined)).not.toHaveProperty("control_key");
  });

  test("has https if there is a certificate, and an address that this machine can reach", () => {
    const info = readyInfo(configOf({ ...tls, host: "::", control_host: "0.0.0.0" }), 1, 2, "", undefined);
    expect(info).toMatchObject({ base_url: "https://[::1]:1", control_url: "https://127.0.0.1:2" });
  });

  test("shows a surface with a host name of its own at the root of that host", () => {
    const config = configOf({ surface_hosts: ["app=app.example", "microblog=blog.example"] });
    expect(readyInfo(config, 5, 6, "", undefined)).toMatchObject({
      ...{ base_url: "http://127.0.0.1:5", app_base_url: "http://app.example:5", microblog_base_url: "http://blog.example:5/v1.0" },
    });
    expect(surfaceAddresses(config)).toEqual([
      { name: "base", mount: "" },
      { name: "app", mount: "", hostname: "app.example" },
      { name: "microblog", mount: "/v1.0", hostname: "blog.example" },
      { name: "ads", mount: "/ads" },
      { name: "social_login", mount: "/social-login" },
    ]);
  });

  test("says where encoders connect: to the operator's media server, to the port, or nowhere", () => {
    const rtmpUrl = (given: object | undefined) => readyInfo(configOf(), 1, 2, "", given && streaming(given)).rtmp_url;
    expect([rtmpUrl(undefined), rtmpUrl({}), rtmpUrl({ rtmpPort: 1935 }), rtmpUrl({ rtmpPort: 1935, rtmpUrl: "rtmp://media/live" })]).toEqual([
      ...[null, null, "rtmp://127.0.0.1:1935/live", "rtmp://media/live"],
    ]);
  });
});

describe("the server's description in the control API", () => {
  test("has the address at which it listens, or the caller's host name if it listens on all addresses", () => {
    const base = (host: string, hostname = "plaza.test") => describeServer(configOf({ host }), hostname, 9, undefined).base_url;
    expect([base("127.0.0.1"), base("0.0.0.0"), base("::"), base("::", "[fd00::1]"), base("10.0.0.7")]).toEqual([
      ...["http://127.0.0.1:9", "http://plaza.test:9", "http://plaza.test:9", "http://[fd00::1]:9", "http://10.0.0.7:9"],
    ]);
    const described = describeServer(configOf(), "h", 9, undefined);
    expect(described).toMatchObject({ sandbox: true, social_login_host: "http://127.0.0.1:9/social-login" });
    for (const secret of ["control_key", "control_url", "pid", "ready", "rtmp_url"]) expect(described).not.toHaveProperty(secret);
  });

  test("has the public address behind a proxy, except for surfaces with host names of their own", () => {
    const config = configOf({ public_url: "https://public.example/graph/", surface_hosts: ["ads=ads.example"] });
    expect(describeServer(config, "h", 9, undefined)).toMatchObject({
      base_url: "https://public.example/graph",
      app_base_url: "https://public.example/graph/app",
      microblog_base_url: "https://public.example/graph/microblog/v1.0",
      ads_base_url: "http://ads.example:9",
      social_login_host: "https://public.example/graph/social-login",
    });
  });

  test("names the address for encoders, if they can connect", () => {
    expect(describeServer(configOf(), "h", 9, streaming({ rtmpPort: 1935 })).rtmp_url).toBe("rtmp://127.0.0.1:1935/live");
  });
});

test("the control API describes its server, and can end it", async () => {
  const of = (flags: object) => servedBy(configOf({ ...flags }), 7);
  const { server, stopAsked } = of({ data: "postgres://h/d", workers: "3" });
  expect(server).toMatchObject({ pid: process.pid, sandbox: true, processes: 3, base_url: "http://127.0.0.1:7", data: "postgres" });
  server.stop();
  expect(await stopAsked).toBe("the control API");
  expect(
    [of({ data: ":memory:" }), of({ data: "folder", ...tls, sandbox: false })].map(({ server: { data, base_url, sandbox } }) => [
      data,
      base_url,
      sandbox,
    ]),
  ).toEqual([
    ["memory", "http://127.0.0.1:7", true],
    ["sqlite", "https://127.0.0.1:7", false],
  ]);
});
