/** Checks that `plaza stop` notices when the server has ended. */
import { expect, spyOn, test } from "bun:test";
import { announceServer } from "#config/server-files";
import { afterThisTest } from "#harness/cleanup";
import { controlStub } from "#harness/cli/control-stub";
import { printedBy, written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { stop } from "./stop.ts";

test("a remote server has ended when nobody listens any more", async () => {
  let looks = 0;
  const stub = controlStub(({ path }) => {
    if (path === "/v1/server") return { pid: 77, drain_delay_ms: 0 };
    // The server stops responding when the command checks the server for the third time.
    if (path === "/healthz" && ++looks === 3) queueMicrotask(stub.stop);
    return {};
  });
  const streams = written();
  expect(await stop({ ...stub.given, data: temporaryFolder() })).toBe(0);
  expect(stub.asked.slice(0, 3).map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/server", "POST /v1/server/stop", "GET /healthz"]);
  expect(looks).toBe(3);
  expect(streams).toEqual({ out: "the server (process 77) has ended\n", err: "" });
});

test("a local server has ended when its process has, even if its address still responds", async () => {
  const server = Bun.spawn(["sleep", "600"]);
  afterThisTest(() => server.kill());
  const stub = controlStub(({ path }) => {
    if (path === "/v1/server/stop") server.kill();
    return { pid: server.pid, drain_delay_ms: 0 };
  });
  const data = temporaryFolder();
  announceServer({ data }, { pid: server.pid, base_url: "", control_url: stub.url });
  const streams = written();
  expect(await stop({ data, control_key: stub.key })).toBe(0);
  expect(streams.out).toBe(`the server (process ${server.pid}) has ended\n`);
  expect(stub.asked.map(({ path }) => path)).toEqual(["/v1/server", "/v1/server/stop"]);
});

test("a server that does not end within 15 s after its drain is a failure", async () => {
  // The server's process is the process of this test, which does not end.
  const stub = controlStub(() => ({ pid: process.pid, drain_delay_ms: 5_000 }));
  const data = temporaryFolder();
  announceServer({ data }, { pid: process.pid, base_url: "", control_url: stub.url });
  const pauses: number[] = [];
  const real = globalThis.setTimeout;
  const spy = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms = 0, ...more: unknown[]) => {
    if (ms !== 50) return real(then, ms, ...more);
    pauses.push(ms);
    return real(then, 0);
  }) as unknown as typeof setTimeout);
  afterThisTest(() => spy.mockRestore());
  const streams = written();
  expect(await stop({ data, control_key: stub.key })).toBe(1);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(20_000);
  expect(streams).toEqual({ out: "", err: `plaza: the server (process ${process.pid}) has not ended within 20 s\n` });
});

test("without a server there is nothing to end", async () => {
  const streams = written();
  expect(await stop({ data: temporaryFolder() })).toBe(0);
  expect(streams).toEqual({ out: "", err: "no server runs on the data\n" });
});

test("--json has the id of the process, or null", async () => {
  const stub = controlStub(({ path }) => {
    if (path === "/healthz") queueMicrotask(stub.stop);
    return { pid: 77, drain_delay_ms: 0 };
  });
  const streams = written();
  expect(await stop({ ...stub.given, data: temporaryFolder(), json: true })).toBe(0);
  expect(await stop({ data: temporaryFolder(), json: true })).toBe(0);
  const printed = streams.out.trimEnd().split("\n");
  expect({ printed: printed.map((line) => printedBy("stop", line)), err: streams.err }).toEqual({ printed: [{ pid: 77 }, { pid: null }], err: "" });
});
