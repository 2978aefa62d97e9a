/** Tests which ports for encoders and which folder of recordings each configuration gives. The tests do not start an ingest process. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#config/config";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { catchTimers } from "#harness/time/stopped-time";
import type { Log } from "#telemetry/log";
import { openLiveIngest } from "./live-ingest.ts";

const HOST = "127.0.0.1";

function open(config: Partial<Config>, isOwner = true) {
  const warnings: string[] = [];
  const errors: string[] = [];
  const log = {
    warn: (_about: object, text: string) => void warnings.push(text),
    error: (_about: object, text: string) => void errors.push(text),
  } as unknown as Log;
  const ingest = openLiveIngest({ host: HOST, data: temporaryFolder(), allowed_origins: [], ...config } as unknown as Config, log, isOwner);
  afterThisTest(() => ingest.stop());
  return { ingest, warnings, errors };
}

/** Listens at the port until the test has ended, unless another program already listens there. */
function taken(port: number): number {
  try {
    const listener = Bun.listen({ hostname: HOST, port, socket: { data: () => {} } });
    afterThisTest(() => listener.stop(true));
    return listener.port;
  } catch {
    return port;
  }
}

const certificate = { tls_cert: "cert.pem", tls_key: "key.pem" };

test("encoders are sent to the operator's own server, or nowhere, if it is configured so", () => {
  const elsewhere = { rtmpUrl: "rtmp://media.example/live", rtmpPort: undefined, rtmpsPort: undefined };
  expect(open({ rtmp_url: "rtmp://media.example/live" }).ingest.open()).toEqual(elsewhere);
  expect(open({ rtmp_url: "rtmp://media.example/live", rtmp_port: "off" }).ingest.open()).toEqual(elsewhere);
  expect(open({ rtmp_port: "off" }).ingest.open()).toBeUndefined();
});

test("processes without streams know the ports of the one with them: the default ones unless others are configured", () => {
  const ports = (config: Partial<Config>) => {
    const { rtmpPort, rtmpsPort } = open(config, false).ingest.open() ?? {};
    return [rtmpPort, rtmpsPort];
  };
  expect(ports({})).toEqual([1935, undefined]);
  expect(ports({ rtmp_port: 4_000 })).toEqual([4_000, undefined]);
  expect(ports(certificate)).toEqual([1935, 1936]);
  expect(ports({ ...certificate, rtmps_port: 4_001 })).toEqual([1935, 4_001]);
  expect(ports({ ...certificate, rtmps_port: "off" })).toEqual([1935, undefined]);
  expect(ports({ tls_cert: "cert.pem" })).toEqual([1935, undefined]);
});

test("a default port in use is replaced with a warning; a requested one is refused", () => {
  taken(1935);
  const usual = open({});
  const { rtmpPort = 0, rtmpsPort } = usual.ingest.open() ?? {};
  expect({ isElsewhere: rtmpPort > 1_023 && rtmpPort !== 1935, rtmpsPort }).toEqual({ isElsewhere: true, rtmpsPort: undefined });
  expect(usual.warnings).toEqual(["the standard port of RTMP is in use, so encoders must connect to another port"]);
  const port = taken(0);
  expect(() => open({ rtmp_port: port }).ingest.open()).toThrow("Failed to listen");
  const free = open({ ...certificate, rtmp_port: 0, rtmps_port: 0 });
  const found = free.ingest.open();
  expect([found?.rtmpPort, found?.rtmpsPort].every((one) => one !== undefined && one > 1_023)).toBe(true);
  expect(free.warnings).toEqual([]);
  taken(1936);
  const secure = open({ ...certificate, rtmp_port: 0 });
  expect(secure.ingest.open()?.rtmpsPort).not.toBe(1936);
  expect(secure.warnings).toHaveLength(1);
});

test("recordings are beside the data, or in the operator's folder; with data in memory they end with the program", async () => {
  const data = temporaryFolder();
  expect(open({ data }).ingest.recordings).toBe(join(data, "recordings"));
  expect(existsSync(join(data, "recordings"))).toBe(true);
  const elsewhere = join(temporaryFolder(), "a/b");
  expect(open({ recordings: elsewhere }).ingest.recordings).toBe(elsewhere);
  expect(existsSync(elsewhere)).toBe(true);
  // A server that accepts no streams does not create the folder of recordings, but still plays earlier recordings.
  const other = temporaryFolder();
  expect(open({ data: other, rtmp_port: "off" }).ingest.recordings).toBe(join(other, "recordings"));
  expect(open({ data: "postgres://db.example/plaza" }, false).ingest.recordings).toBe(join(".plaza", "recordings"));
  expect(existsSync(join(other, "recordings"))).toBe(false);
  expect(open({ data: ":memory:", rtmp_port: "off" }).ingest.recordings).toBeUndefined();
  expect(open({ data: ":memory:", rtmp_url: "rtmp://media.example/live" }).ingest.recordings).toBeUndefined();
  const { ingest } = open({ data: ":memory:" });
  const folder = ingest.recordings as string;
  expect(existsSync(folder)).toBe(true);
  await ingest.stop();
  expect(existsSync(folder)).toBe(false);
  const kept = open({ data: ":memory:", recordings: elsewhere }).ingest;
  await kept.stop();
  expect(existsSync(elsewhere)).toBe(true);
});

test("D-118: if the operator's own server takes the streams, silent ones are looked for every five seconds until the end", async () => {
  const { intervals } = catchTimers("/src/ingest/live-ingest.ts");
  let [looks, isAway] = [0, false];
  const worlds = {
    open: () => {
      looks++;
      if (isAway) throw new Error("the database is away");
      return [].values();
    },
  } as unknown as Parameters<ReturnType<typeof openLiveIngest>["serve"]>[0];
  const { ingest, errors } = open({ rtmp_url: "rtmp://media.example/live" });
  ingest.serve(worlds);
  expect(intervals.map(({ ms }) => ms)).toEqual([5_000]);
  intervals[0]?.fire();
  expect([looks, errors]).toEqual([1, []]);
  isAway = true;
  intervals[0]?.fire();
  while (errors.length === 0) await Bun.sleep(1);
  expect([looks, errors]).toEqual([2, ["the search for silent media servers failed"]]);
  isAway = false;
  await ingest.stop();
  expect(intervals.map(({ isCleared }) => isCleared)).toEqual([true]);
  // When the server stops, it looks for the feeds of its media server in every open world once more.
  expect(looks).toBe(3);
  // A server without a media server does not search for silent ones, because an ingest process would report its feeds itself.
  open({ rtmp_port: "off" }).ingest.serve(worlds);
  expect(intervals).toHaveLength(1);
});

test("requests wait at most five seconds for a process that does not begin to listen", async () => {
  const { timeouts } = catchTimers("/src/ingest/live-ingest.ts");
  const { listening } = open({ rtmp_port: 0 }).ingest.open() ?? {};
  let isOver = false;
  const over = listening?.then(() => {
    isOver = true;
  });
  await Bun.sleep(0);
  expect([timeouts.map(({ ms }) => ms), isOver]).toEqual([[5_000], false]);
  timeouts[0]?.fire();
  await over;
  expect(isOver).toBe(true);
});
