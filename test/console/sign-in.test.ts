import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { openConsole } from "#harness/console/console-page";
import { openPage } from "#harness/live/browser";
import { startServer, temporaryFolder } from "#harness/server";

test("the address that signs in loses its key at once, and the tab keeps it over a reload", async () => {
  const server = await startServer([]);
  const page = await openConsole(server);
  await page.shows("Requests");
  expect(await page.evaluate<string>("location.href")).not.toContain(server.control_key);
  expect(await page.evaluate<string>("document.cookie + JSON.stringify(localStorage)")).not.toContain(server.control_key);
  await page.go("/requests");
  await page.shows("No request yet");
  await page.click("Search or command");
  await page.click("Sign out");
  await page.shows("Control key");
  await page.go("/requests");
  await page.shows("Control key");
});

test("with a wrong key or none nothing is shown; the right one is accepted", async () => {
  const server = await startServer(["--no-sandbox", "--data", `${temporaryFolder()}/data`], { PLAZA_CONTROL_KEY: "a-key-of-24-characters-x" });
  const page = await openConsole(server, "/requests?request=A", "not-the-key");
  const shown = await page.shows("Control key");
  expect(shown).not.toContain("Requests");
  const asked = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.startsWith('/v1/'))";
  expect(await page.evaluate<string[]>(asked)).toEqual(["/v1/server"]);
  await page.screenshot("sign-in");
  await page.fill("Control key", "wrong");
  await page.click("Sign in");
  await page.shows("does not know this key");
  await page.fill("Control key", "a-key-of-24-characters-x");
  await page.click("Sign in");
  await page.shows("The server no longer has this request");
});

test("a page of another site can neither read nor control it, nor show it in a frame", async () => {
  const server = await startServer([]);
  const site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("<p>evil</p>", { headers: { "content-type": "text/html" } }) });
  afterThisTest(() => site.stop(true));
  const page = await openPage(`http://evil.example:${site.port}/`, ["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
  const address = `http://evil.example:${site.port}/`;
  const ask = (path: string, options: object): Promise<string> =>
    page.evaluate<string>(
      address,
      `fetch(${JSON.stringify(server.control_url + path)}, ${JSON.stringify(options)}).then(async (response) => response.type + " " + (await response.text()), () => "refused")`,
    );
  const headers = { authorization: `Bearer ${server.control_key}` };
  expect(await ask("/v1/server", { headers })).toBe("refused");
  expect(await ask("/v1/worlds/default/clock/advance", { method: "POST", headers, body: '{"seconds":60}' })).toBe("refused");
  expect(await ask("/", {})).toBe("refused");
  // A page of another site cannot read responses, and the browser does not add the control key to requests of this page.
  expect(await ask("/v1/worlds/default/clock/advance", { method: "POST", mode: "no-cors", body: '{"seconds":60}' })).toBe("opaque ");
  const frozen = (await (await fetch(`${server.control_url}/v1/worlds/default/clock`, { headers })).json()) as { now: number };
  expect(Math.abs(frozen.now - Date.now() / 1000)).toBeLessThan(30);
  await page.evaluate(
    address,
    `void document.body.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(server.control_url)} }))`,
  );
  await page.evaluateUntil<boolean>(address, "document.querySelector('iframe').contentDocument === null", Boolean);
  while (!page.problems.some((problem) => problem.includes("frame-ancestors"))) await Bun.sleep(20);
});

test("it runs only its own scripts, sets no cookie, and cannot be framed by others", async () => {
  const server = await startServer([]);
  const response = await fetch(`${server.control_url}/requests`, { headers: { accept: "text/html" } });
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(response.headers.get("set-cookie")).toBeNull();
  expect(await response.text()).not.toContain(server.control_key);
  const again = await fetch(`${server.control_url}/requests`, { headers: { accept: "text/html" } });
  expect(again.headers.get("content-security-policy")).not.toBe(policy);
  expect((await fetch(`${server.control_url}/requests`)).status).toBe(404);
  expect((await fetch(`${server.control_url}/assets/nothing.js`)).status).toBe(404);
});
