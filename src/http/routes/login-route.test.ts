/** Checks the login dialog over HTTP: its page, the page's headers, and requests that other web pages send. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { startTestServer } from "#cli/test-server";
import { afterThisTest } from "#harness/cleanup";
import { worldFile } from "#harness/server";

const BACK = "http://127.0.0.1:9000/back";
const world = {
  profile: "clients",
  apps: [{ id: "1001", name: "<Shop>", secret: "s3cret", redirect_uris: [BACK, "myshop://done"] }],
  users: [{ id: "3001", name: 'Ada "<b>"' }],
  social_accounts: [{ id: "5001", username: "cafe" }],
};

async function open(flags: Record<string, unknown> = {}) {
  const server = await startTestServer({ world: worldFile(world), quiet: true, ...flags });
  afterThisTest(() => server.stop());
  const base = String(server.ready.base_url);
  const ask = (path: string, init: RequestInit = {}) => fetch(`${base}${path}`, { redirect: "manual", ...init });
  return { base, ask };
}

const dialog = (redirect_uri = BACK) => `dialog/oauth?${new URLSearchParams({ client_id: "1001", redirect_uri, scope: "email", state: "s" })}`;
const tokenIn = (html: string): string => /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";

test("D-381: a person logs in with a page without scripts, which nothing can frame", async () => {
  const { ask } = await open();
  const page = await ask(`/v26.0/${dialog()}`);
  const html = await page.text();
  const { "content-security-policy": policy, "x-frame-options": frames, "cache-control": cache, "set-cookie": cookie } = page.headers.toJSON();
  expect({ status: page.status, frames, cache }).toEqual({ status: 200, frames: "DENY", cache: "no-store" });
  // With the referrer policy no-referrer a browser sends the form with the origin null, which the server refuses.
  expect(page.headers.get("referrer-policy")).toBe("same-origin");
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'nonce-[\w-]{16}'; form-action 'self' http:\/\/127\.0\.0\.1:9000; frame-ancestors 'none'; base-uri 'none'$/,
  );
  expect(String(cookie)).toMatch(/^plaza_login=[\w-]{32}; HttpOnly; SameSite=Lax; Path=\/$/);
  expect(html).not.toMatch(/<script|<b>|<Shop>| on\w+=/);
  expect(html).toContain("Ada &quot;&lt;b&gt;&quot;");
  const fields = new URLSearchParams({ form_token: tokenIn(html), person: "3001", scope: "email", action: "allow" });
  const headers = { cookie: String(cookie).split(";")[0] ?? "" };
  const answer = await ask("/v26.0/dialog/oauth", { method: "POST", body: fields, headers });
  expect([answer.status, await answer.text()]).toEqual([303, ""]);
  expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:9000\/back\?code=[\w-]{43}&state=s$/);
  // A second dialog in the same browser uses the same cookie, so that dialogs in two tabs work.
  expect((await ask(`/${dialog()}`, { headers })).headers.get("set-cookie")).toBeNull();
  expect((await ask(`/${dialog("myshop://done")}`)).headers.get("content-security-policy")).toContain("form-action 'self' myshop:;");
});

test("D-381: a form without the cookie, and requests of pages of other sites, are refused", async () => {
  const { ask } = await open();
  const page = await ask(`/${dialog()}`);
  const fields = new URLSearchParams({ form_token: tokenIn(await page.text()), person: "3001", action: "allow" });
  const cookie = String(page.headers.get("set-cookie")).split(";")[0] ?? "";
  const post = async (headers: Record<string, string>) => (await ask("/dialog/oauth", { method: "POST", body: fields, headers })).status;
  expect(await post({})).toBe(400);
  expect(await post({ cookie: "plaza_login=short" })).toBe(400);
  expect(await post({ cookie, origin: "https://evil.example" })).toBe(403);
  expect(await post({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
  expect((await ask(`/${dialog()}`, { headers: { host: "evil.example" } })).status).toBe(403);
  expect((await ask(`/${dialog()}`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
  expect(await post({ cookie })).toBe(303);
});

test("D-381: a wrong request gets a page that says what to do, and no redirect", async () => {
  const { ask } = await open();
  const wrong = await ask(`/${dialog("https://evil.example/<x>")}`);
  const html = await wrong.text();
  expect([wrong.status, wrong.headers.get("location"), wrong.headers.get("set-cookie")]).toEqual([400, null, null]);
  expect(html).toContain("redirect_uri is not one of the addresses of app 1001: https://evil.example/&lt;x&gt;. Add exactly this address");
});

test("D-381, D-383: the host of the alternate flow has the dialog at its own address, for accounts", async () => {
  const { ask } = await open();
  const html = await (await ask(`/social-login/oauth/authorize?${dialog().split("?")[1]}`)).text();
  expect(html).toContain('value="5001"');
  expect(html).not.toContain('value="3001"');
  for (const path of ["/oauth/authorize", "/social-login/dialog/oauth", "/ads/dialog/oauth", "/x/dialog/oauth", "/v26.0/v26.0/dialog/oauth"]) {
    const response = await ask(`${path}?${dialog().split("?")[1]}`);
    expect(await response.json()).toMatchObject({ error: { code: 2_500 } });
  }
});

test("D-381: without a sandbox, and in the profile strict, there is no dialog", async () => {
  for (const flags of [{ sandbox: false, control_key: "k".repeat(32) }, { profile: "strict" }]) {
    const { ask } = await open(flags);
    const response = await ask(`/${dialog()}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 2_500 } }]);
  }
});

test("D-390: without a sandbox the operator's page says who signed in", async () => {
  const sign_in_url = "http://127.0.0.1:9000/sign-in";
  const key = "k".repeat(32);
  const { ask, base } = await open({ sandbox: false, control_key: "c".repeat(32), sign_in_url, sign_in_key: key });
  const first = await ask(`/v26.0/${dialog()}`);
  const to = new URL(first.headers.get("location") ?? "");
  expect([first.status, `${to.origin}${to.pathname}`]).toEqual([303, sign_in_url]);
  expect(first.headers.get("set-cookie")).toMatch(/^plaza_login=[\w-]{32}; HttpOnly; SameSite=Lax; Path=\/$/);
  const back = new URL(to.searchParams.get("return_to") ?? "");
  expect(back.href).toBe(`${base}/v26.0/${dialog()}`);
  const encoded = Buffer.from(
    JSON.stringify({ algorithm: "HMAC-SHA256", user_id: "3001", nonce: to.searchParams.get("nonce"), issued_at: Math.floor(Date.now() / 1_000) }),
  ).toString("base64url");
  back.searchParams.set("signed_in", `${createHmac("sha256", key).update(encoded).digest("base64url")}.${encoded}`);
  const headers = { cookie: String(first.headers.get("set-cookie")).split(";")[0] ?? "" };
  const page = await ask(`${back.pathname}${back.search}`, { headers });
  const html = await page.text();
  expect([page.status, html.includes("You are Ada"), html.includes('type="radio"'), html.includes("sandbox")]).toEqual([200, true, false, false]);
  const body = new URLSearchParams({ form_token: tokenIn(html), scope: "email", action: "allow" });
  const answer = await ask("/v26.0/dialog/oauth", { method: "POST", body, headers });
  expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:9000\/back\?code=[\w-]{43}&state=s$/);
  // The browser sends the form of another site without the dialog's cookie.
  expect((await ask("/v26.0/dialog/oauth", { method: "POST", body })).status).toBe(400);
  // If the sign-in page reports a person for another browser, the server does not show the form.
  expect((await ask(`${back.pathname}${back.search}`)).status).toBe(400);
  // The request of the app is checked before anybody signs in.
  expect((await ask(`/${dialog("https://evil.example/")}`)).headers.get("location")).toBeNull();
});
