import { afterEach, expect, test } from "bun:test";
import { endAll, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

test("D-05: / of both ports tells a browser where it is, and is unknown to others", async () => {
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
