import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { afterThisTest } from "#harness/cleanup";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { signedRequest } from "./login.signed-request.ts";

/**
 * Starts an app's callback, which responds to its requests with the given statuses or texts, one after the other, and to all later requests with 200.
 */
function receiver(...answers: (number | string)[]) {
  const bodies: URLSearchParams[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      bodies.push(new URLSearchParams(await request.text()));
      const answer = answers.shift() ?? 200;
      return typeof answer === "number" ? new Response("", { status: answer }) : new Response(answer);
    },
  });
  afterThisTest(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/removed`, bodies };
}

const worldWith = (callbacks: { deauthorize_url?: string; data_deletion_url?: string } = {}) => ({
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", ...callbacks }],
  users: [{ id: "3001", name: "Ada" }],
  tokens: ["t", "u"].map((token) => ({ token, type: "user", app: "1001", user: "3001", scopes: ["email"] })),
});

test("D-385: an app is told by a signed request that a person removed it, again if it does not answer with success", async () => {
  const { url, bodies } = receiver(500, 302, 500, 404, 500);
  const plaza = await openPlaza({ world: worldWith({ deauthorize_url: url }), profile: "clients" });
  expect((await plaza.delete("/v26.0/me/permissions", { bearer: "t" })).body).toEqual({ success: true });
  await plaza.world.work.runDue();
  expect(bodies).toHaveLength(1);
  for (const hours of [1, 2, 3, 4, 10, 10]) {
    plaza.time.realMs += hours * 3_600_000;
    await plaza.world.work.runDue();
  }
  expect(bodies).toHaveLength(5);
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

/** Removes the app as Ada, who wants her data deleted. */
const removeApp = ({ request }: Awaited<ReturnType<typeof openControl>>, more: object = { delete_data: true }) =>
  request("POST", "in-app/remove-app", { app: "1001", user: "3001", ...more });

const DONE = { url: "https://shop.example/deletion?id=7", confirmation_code: "7abc" };

onEachDatabase("deletion of data", (database) => {
  const open = (data_deletion_url?: string) =>
    openControl({ database, world: worldWith(data_deletion_url === undefined ? {} : { data_deletion_url }), profile: "clients" });

  test("D-387: an app is asked by a signed request to delete the data of a person, and its answer is shown", async () => {
    const { url, bodies } = receiver(JSON.stringify(DONE));
    const control = await open(url);
    const now = control.plaza.time.realMs / 1_000;
    expect(await removeApp(control)).toEqual({ status: 200, body: { success: true } });
    const waiting = { app: "1001", user: "3001", requested_at: now, confirmed_at: 0 };
    expect((await control.request("GET", "in-app/data-deletions")).body.data).toEqual([waiting]);
    await control.plaza.world.work.runDue();
    const [signature, payload = ""] = (bodies[0]?.get("signed_request") ?? "").split(".");
    expect(signature).toBe(createHmac("sha256", "s3cret").update(payload).digest("base64url"));
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({ algorithm: "HMAC-SHA256", user_id: "3001", issued_at: now });
    expect((await control.request("GET", "in-app/data-deletions")).body.data).toEqual([{ ...waiting, confirmed_at: now, ...DONE }]);
    expect((await control.plaza.get("/v26.0/me", { bearer: "t" })).body.error).toMatchObject({ code: 190, error_subcode: 466 });
  });

  test("D-387: a wrong answer is shown with its reason, the app is asked again, and a later request replaces an earlier one", async () => {
    const wrong = ["", "[", "null", JSON.stringify({ url: DONE.url }), JSON.stringify({ ...DONE, url: "javascript:alert(1)" })];
    const { url, bodies } = receiver(500, ...wrong, JSON.stringify({ ...DONE, confirmation_code: "a\u0000" }), JSON.stringify(DONE));
    const control = await open(url);
    const shown = async () => (await control.request("GET", "in-app/data-deletions")).body.data;
    await removeApp(control);
    const problems: string[] = [];
    for (let run = 0; run < 5; run++) {
      await control.plaza.world.work.runDue();
      problems.push((await shown())[0].problem);
      control.plaza.time.realMs += 5 * 3_600_000;
    }
    await control.plaza.world.work.runDue();
    expect([bodies.length, problems[0]]).toEqual([5, "the app answered with the status 500"]);
    for (const problem of problems.slice(1)) expect(problem).toStartWith("the app's answer has no ");
    await removeApp(control);
    expect(await shown()).toEqual([{ app: "1001", user: "3001", requested_at: expect.any(Number), confirmed_at: 0 }]);
    for (let run = 0; run < 3; run++) {
      await control.plaza.world.work.runDue();
      control.plaza.time.realMs += 5 * 3_600_000;
    }
    expect(await shown()).toMatchObject([DONE]);
  });

  test("D-387: what nobody can ask for is refused, and a deleted person's requests are forgotten", async () => {
    const control = await open();
    expect(await removeApp(control)).toMatchObject({ status: 422, body: { error: { parameter: "delete_data" } } });
    expect(await removeApp(control, { app: "1002" })).toMatchObject({ status: 422, body: { error: { parameter: "app" } } });
    expect(await removeApp(control, { user: "3002" })).toMatchObject({ status: 422, body: { error: { parameter: "user" } } });
    expect((await removeApp(control, {})).status).toBe(200);
    expect((await control.request("GET", "in-app/data-deletions")).body.data).toEqual([]);
    const { url } = receiver(JSON.stringify(DONE));
    await control.request("PATCH", "nodes/apps/1001", { data_deletion_url: url });
    await removeApp(control);
    await control.plaza.world.work.runDue();
    expect((await control.request("GET", "in-app/data-deletions")).body.data).toMatchObject([DONE]);
    await control.request("DELETE", "nodes/users/3001");
    expect((await control.request("GET", "in-app/data-deletions")).body.data).toEqual([]);
  });
});

test("a signed request is the signature and the payload in base64url", () => {
  // The expected text was made with openssl: printf '{"algorithm":"HMAC-SHA256","user_id":"1"}' | basenc --base64url, and its dgst -sha256 -hmac key.
  const [signature, payload] = signedRequest({ user_id: "1" }, "key").split(".");
  expect(payload).toBe("eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsInVzZXJfaWQiOiIxIn0");
  expect(signature).toBe(SIGNATURE);
});

const SIGNATURE = "9s1y2qfdh-F_gRoIFb9LK6xftjp6S1oma0Yx-mqM_ck";
