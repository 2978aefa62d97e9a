import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer } from "#harness/server";

test(
  "the API reference shows the graph, the control API and the webhooks, requests nothing from others, and obeys its page's policy",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { path: "/docs" });
    const asked = new Set<string>();
    person.page.on("request", (request) => asked.add(request.url()));
    await person.shows("Download OpenAPI Document", "The graph interface.");
    await person.look("reference-graph");
    await person.press("Graph");
    await person.page.getByRole("option", { name: "Control API" }).click();
    await person.shows("Plaza control API", "Controls a running Plaza");
    await person.look("reference-control");
    await person.press("Control API");
    await person.page.getByRole("option", { name: "Webhooks" }).click();
    await person.shows("Plaza's webhooks");
    await person.look("reference-webhooks");
    const own = [server.base_url, server.control_url].map((address) => new URL(address).origin);
    expect([...asked].filter((url) => !own.includes(new URL(url).origin) && !url.startsWith("data:"))).toEqual([]);
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);

test("it needs no key, shows nothing of the worlds, runs only its own scripts, and cannot be framed", async () => {
  const server = await startServer([]);
  const response = await fetch(`${server.control_url}/docs`);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy.replace("style-src-attr 'unsafe-inline'", "")).not.toContain("unsafe");
  expect(response.headers.get("set-cookie")).toBeNull();
  const page = await response.text();
  expect(page).not.toContain(server.control_key);
  const script = /src="(\/reference\/[^"]+\.js)"/.exec(page)?.[1] ?? "";
  const { status, headers } = await fetch(server.control_url + script);
  expect({ status, type: headers.get("content-type") }).toEqual({ status: 200, type: "text/javascript; charset=utf-8" });
  expect((await fetch(`${server.control_url}/reference/nothing.js`)).status).toBe(404);
  // The build leaves out the code of the library that sends documents to the library's maker.
  expect((await Bun.file(new URL("../../console/dist/reference.pack", import.meta.url).pathname).text()).includes("AgentScalarDrawer-")).toBeFalse();
});
