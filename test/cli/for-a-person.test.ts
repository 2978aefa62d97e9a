import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "#harness/processes/needs";
import { endAll, newFolder, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

needs("curl");

afterEach(endAll);

test("D-05: / of both ports shows browsers a page, and is unknown to others", async () => {
  const { ready } = await startPlaza(["--data", ":memory:"]);
  for (const [address, says, unknown] of [
    [ready.base_url, "This is the graph", 400],
    [ready.control_url, "Plaza console</title>", 404],
  ] as const) {
    const page = await fetch(`${address}/`, { headers: { accept: "text/html,application/xhtml+xml" } });
    expect({ status: page.status, type: page.headers.get("content-type")?.toLowerCase() }).toEqual({ status: 200, type: "text/html; charset=utf-8" });
    expect(await page.text()).toContain(says);
    expect((await fetch(`${address}/`)).status).toBe(unknown);
    expect((await fetch(`${address}/`, { method: "POST", headers: { accept: "text/html" } })).status).toBe(unknown);
  }
});

test("with --callback and an own world, the start names the place of the secret that signs webhooks", async () => {
  const world = join(newFolder(), "world.yaml");
  writeFileSync(world, 'apps: [{id: "1", name: Own, secret: own-secret}]\n');
  const options = ["--data", newFolder(), "--port", "0", "--control-port", "0", "--rtmp-port", "off", "--log-level", "silent"];
  const running = spawnPlaza(["start", "--world", world, "--callback", "http://127.0.0.1:1/hook", ...options]);
  const reader = running.stdout.getReader();
  let text = "";
  while (!text.includes("signed with")) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).toContain("signed with   the app's secret, which plaza listen --print-secret prints\n");
  const env = { PLAZA_CONTROL_URL: /control API +(\S+)\/v1/.exec(text)?.[1] ?? "", PLAZA_CONTROL_KEY: /control key +(\S+)/.exec(text)?.[1] ?? "" };
  expect(await runPlaza(["listen", "--print-secret"], { env })).toEqual({ code: 0, stdout: "own-secret\n", stderr: "" });
});

describe("for a person", () => {
  /** The output of a start on this data, for a first and a second start. */
  async function printed(data: string): Promise<{ text: string; stop(): Promise<number> }> {
    const running = spawnPlaza(["start", "--data", data, "--port", "0", "--control-port", "0", "--rtmp-port", "off", "--log-level", "silent"]);
    let text = "";
    const reader = running.stdout.getReader();
    while (!text.includes("/personas?")) text += new TextDecoder().decode((await reader.read()).value);
    return {
      text,
      stop: () => {
        running.kill("SIGTERM");
        return running.exited;
      },
    };
  }

  test("addresses, control key, demo tokens, and requests that work when pasted; on each start", async () => {
    const data = newFolder();
    for (const start of ["first", "second"]) {
      const { text, stop } = await printed(data);
      expect(text).toMatch(/control key +\S{20,}/);
      for (const [token] of readFileSync(join(import.meta.dir, "../../worlds/demo.yaml"), "utf8").matchAll(/(?<=token: )demo-[a-z-]+/g))
        expect(text).toContain(token);
      const requests = text.split("\n").filter((line) => line.trim().startsWith("curl "));
      expect(requests).toHaveLength(3);
      for (const [index, request] of requests.entries()) {
        const response = JSON.parse(await new Response(Bun.spawn(["sh", "-c", request.replace("curl", "curl -sS")]).stdout).text());
        // At the second start, the label that the first start created exists already.
        if (start === "first" || index !== 1) expect(response.error ?? response.code).toBeUndefined();
      }
      expect(await stop()).toBe(0);
    }
  }, 20_000);
});
