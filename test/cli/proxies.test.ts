/** Checks programs that send requests to a server on this machine while their environment names a proxy. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { withoutProxyFor } from "#cli/proxies";
import { afterThisTest } from "#harness/cleanup";
import { controlStub } from "#harness/cli/control-stub";
import { endAll, runPlaza } from "./plaza-process.ts";

afterEach(endAll);

/** A proxy that records the address of each request, with the environment variables that name the proxy. */
function proxy() {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      asked.push(url);
      return Response.json({ data: [] });
    },
  });
  afterThisTest(() => server.stop(true));
  const address = `http://127.0.0.1:${server.port}`;
  return { asked, env: { HTTP_PROXY: address, http_proxy: address } };
}

/** Runs a module that uses Plaza's clients, as a program of a user would. */
async function runScript(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const program = Bun.spawn([process.execPath, "-e", script], {
    ...{ cwd: join(import.meta.dir, "../.."), env: { PATH: process.env.PATH ?? "", ...env }, stderr: "inherit" },
  });
  return (await new Response(program.stdout).text()).trim();
}

describe("the proxy is not used", () => {
  test("by commands, wherever they find the server's address", async () => {
    const { asked, env } = proxy();
    const stub = controlStub(() => ({ data: [], paging: {} }));
    const named = { PLAZA_CONTROL_URL: stub.url, PLAZA_CONTROL_KEY: stub.key };
    expect(await runPlaza(["world", "list"], { env: { ...env, ...named } })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await runPlaza(["deliveries", "list", "--json", ...stub.flags], { env })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(asked).toEqual([]);
    expect(stub.asked).toHaveLength(2);
    // A server on another machine may be behind the proxy.
    await runPlaza(["world", "list", "--control-url", "http://plaza.example:4001", "--control-key", "k".repeat(16)], { env });
    expect(asked).toEqual([expect.stringContaining("http://plaza.example:4001/v1/worlds")]);
  });

  test("by the test kit", async () => {
    const { asked, env } = proxy();
    const stub = controlStub(() => ({ from: "stub" }));
    const script = `import { Connection } from "./clients/testing/connection.ts";
      console.log(JSON.stringify(await new Connection("${stub.url}", "key").send("GET", "worlds")));`;
    expect(await runScript(script, env)).toBe('{"from":"stub"}');
    expect(asked).toEqual([]);
  });

  test("by the client", async () => {
    const { asked, env } = proxy();
    const stub = controlStub(() => ({ id: "2001" }));
    const script = `import { createClient } from "./clients/typescript/src/index.ts";
      console.log(JSON.stringify(await createClient({ baseUrl: "${stub.url}", accessToken: "t" }).readPage("2001")));`;
    expect(await runScript(script, env)).toBe('{"id":"2001"}');
    expect(asked).toEqual([]);
  });
});

test("the command of plaza exec excludes this machine from the proxy, and keeps other exclusions; without a proxy nothing is set", () => {
  const loopback = "localhost,127.0.0.1,::1";
  expect(withoutProxyFor({ HTTP_PROXY: "http://proxy:1" })).toEqual({ NO_PROXY: loopback, no_proxy: loopback });
  expect(withoutProxyFor({ all_proxy: "http://proxy:1", no_proxy: "example.com" })).toEqual({
    NO_PROXY: `example.com,${loopback}`,
    no_proxy: `example.com,${loopback}`,
  });
  for (const none of [{}, { HTTP_PROXY: "" }, { NO_PROXY: "example.com" }]) expect(withoutProxyFor(none)).toEqual({});
});
