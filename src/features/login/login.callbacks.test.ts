import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { afterThisTest } from "#harness/cleanup";
import { openPlaza } from "#harness/plaza";
import { signedRequest } from "./login.callbacks.ts";

/** An app's callback, which answers with the given statuses in turn and then with 200. */
function receiver(...statuses: number[]) {
  const bodies: URLSearchParams[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      bodies.push(new URLSearchParams(await request.text()));
      return new Response("", { status: statuses.shift() ?? 200 });
    },
  });
  afterThisTest(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/removed`, bodies };
}

const worldWith = (deauthorize_url?: string) => ({
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", ...(deauthorize_url === undefined ? {} : { deauthorize_url }) }],
  users: [{ id: "3001", name: "Ada" }],
  tokens: ["t", "u"].map((token) => ({ token, type: "user", app: "1001", user: "3001", scopes: ["email"] })),
});

test("D-385: an app is told by a signed request that a person removed it, again if it does not answer with success", async () => {
  const { url, bodies } = receiver(500);
  const plaza = await openPlaza({ world: worldWith(url), profile: "clients" });
  expect((await plaza.delete("/v26.0/me/permissions", { bearer: "t" })).body).toEqual({ success: true });
  await plaza.world.work.runDue();
  expect(bodies).toHaveLength(1);
  plaza.time.realMs += 3_600_000;
  await plaza.world.work.runDue();
  plaza.time.realMs += 36_000_000;
  await plaza.world.work.runDue();
  expect(bodies).toHaveLength(2);
  const [signature, payload = ""] = (bodies[1]?.get("signed_request") ?? "").split(".");
  expect(signature).toBe(createHmac("sha256", "s3cret").update(payload).digest("base64url"));
  expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({ algorithm: "HMAC-SHA256", user_id: "3001", issued_at: 1_795_000_000 });
  expect((await plaza.get("/v26.0/me", { bearer: "u" })).body.error).toMatchObject({ code: 190, error_subcode: 466 });
});

test("D-385: an app without the address is not told, and the person's tokens end all the same", async () => {
  const plaza = await openPlaza({ world: worldWith(), profile: "clients" });
  expect((await plaza.delete("/v26.0/me/permissions", { bearer: "t" })).body).toEqual({ success: true });
  await plaza.world.work.runDue();
  expect((await plaza.get("/v26.0/me", { bearer: "t" })).status).toBe(401);
});

test("a signed request is the signature and the payload in base64url", () => {
  // Made with openssl: printf '{"algorithm":"HMAC-SHA256","user_id":"1"}' | basenc --base64url, and its dgst -sha256 -hmac key.
  const [signature, payload] = signedRequest({ user_id: "1" }, "key").split(".");
  expect(payload).toBe("eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsInVzZXJfaWQiOiIxIn0");
  expect(signature).toBe(SIGNATURE);
});

const SIGNATURE = "9s1y2qfdh-F_gRoIFb9LK6xftjp6S1oma0Yx-mqM_ck";
