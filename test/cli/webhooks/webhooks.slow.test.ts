import { afterEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { startReceiver } from "#harness/receiver";
import { startServer, worldFile } from "#harness/server";
import { endAll, PROGRAM, spawnPlaza } from "../plaza-process.ts";

afterEach(endAll);

const world = {
  apps: [{ id: "1001", secret: "s3cret" }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  pages: [{ id: "2001" }],
};

/** Reads the output of a process until `isEnough` returns true or the process has ended. */
async function readUntil(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
  isEnough: (text: string) => boolean,
): Promise<string> {
  let text = "";
  while (!isEnough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  return text;
}

test("plaza listen receives an app's webhooks, passes them on unchanged, and restores the callback; plaza trigger prints the result", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const env = { PLAZA_CONTROL_URL: server.control_url, PLAZA_CONTROL_KEY: server.control_key };
  const app = async () =>
    (await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, { headers: { authorization: `Bearer ${server.control_key}` } })).json();
  const before = await app();
  const receiver = startReceiver();
  const listening = spawnPlaza(["listen", "--forward-to", receiver.url], { env });
  const printed = listening.stdout.getReader();
  expect(await readUntil(printed, (text) => text.includes("\n"))).toMatch(
    /^receiving the webhooks of app 1001 at http:\/\/127\.0\.0\.1:\d+\/, forwarding to /,
  );

  const triggered = spawnPlaza(["trigger", "messages", "--override", "messages[0].text.body=Grüße"], { env });
  expect(await triggered.exited).toBe(0);
  expect(await new Response(triggered.stdout).text()).toMatch(/^\d+ app 1001 http:\/\/127\.0\.0\.1:\d+\/: delivered 200 in [\d.]+ ms\n$/);
  const [post] = receiver.posts;
  expect(JSON.parse(post?.body ?? "")).toMatchObject({
    entry: [{ id: "4001", changes: [{ field: "messages", value: { messages: [{ from: "15550199", text: { body: "Grüße" } }] } }] }],
  });
  expect(post?.headers["x-hub-signature-256"]).toBe(
    `sha256=${createHmac("sha256", "s3cret")
      .update(post?.body ?? "")
      .digest("hex")}`,
  );
  expect(post?.headers["webhook-signature"]).toStartWith("v1,");

  listening.kill("SIGINT");
  expect(await listening.exited).toBe(0);
  expect(await readUntil(printed, () => false)).toMatch(/ chatapp_business_account 4001 messages msg_\d+ → 200\n/);
  expect(await app()).toEqual(before);
});

test("plaza listen ends when its reader has enough, and restores the callback", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const env = { PATH: process.env.PATH ?? "", PLAZA_CONTROL_URL: server.control_url, PLAZA_CONTROL_KEY: server.control_key };
  const app = async () =>
    (await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, { headers: { authorization: `Bearer ${server.control_key}` } })).json();
  const before = await app();
  const listening = Bun.spawn(["bash", "-c", `"${PROGRAM}" listen | head -1`], { env, stdout: "pipe", stderr: "pipe" });
  let hasEnded = false;
  void listening.exited.then(() => {
    hasEnded = true;
  });
  await readUntil(listening.stdout.getReader(), (text) => text.includes("\n"));
  // The command prints a line for each event. The first line that the command prints after `head` has ended finds the pipe closed.
  while (!hasEnded) await spawnPlaza(["trigger", "messages"], { env }).exited;
  expect(await new Response(listening.stderr).text()).toBe("");
  expect(await app()).toEqual(before);
});

test("--deliveries-per-second limits the rate for a callback, and everything arrives", async () => {
  const receiver = startReceiver();
  const accounts = Array.from({ length: 100 }, (_, at) => String(4_001 + at));
  const busy = {
    apps: [{ id: "1001", callback: { url: receiver.url }, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }],
    chatapp_accounts: accounts.map((id) => ({ id, subscribed_apps: [{ app: "1001" }] })),
  };
  const { control_url, control_key } = await startServer(["--data", ":memory:", "--world", worldFile(busy), "--deliveries-per-second", "1"]);
  const post = (path: string, body: object) =>
    fetch(`${control_url}/v1/worlds/default/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${control_key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const account of accounts) expect((await post("in-app/chatapp", { account, field: "messages", value: {} })).status).toBe(200);
  while (receiver.posts.length === 0) await Bun.sleep(5);
  // At the limited rate, the server needs a minute and a half to send a hundred webhooks.
  expect(receiver.posts.length).toBeLessThan(accounts.length);
  // The rate limit does not delay webhooks that become due because the world's clock is moved.
  await post("clock/advance", { seconds: 1 });
  while (receiver.posts.length < accounts.length) await Bun.sleep(5);
});

test("impossible requests are reported, with their exit code", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const env = { PLAZA_CONTROL_URL: server.control_url, PLAZA_CONTROL_KEY: server.control_key };
  const run = async (...args: string[]) => {
    const process = spawnPlaza(args, { env });
    return [await process.exited, await new Response(process.stderr).text()] as const;
  };
  expect(await run("trigger", "page.live_videos")).toEqual([1, expect.stringContaining("no app gets live_videos of 2001")]);
  expect(await run("trigger", "unheard_of")).toEqual([2, expect.stringContaining("there is no event unheard_of")]);
  expect(await run("trigger", "mesages")).toEqual([2, expect.stringContaining("did you mean messages?")]);
  expect(await run("trigger")).toEqual([2, expect.stringContaining("give either an event or a --script")]);
  expect(await run("trigger", "calls", "--override", "id")).toEqual([2, expect.stringContaining("is not path=value")]);
  expect(await run("trigger", "calls", "--value", "{}", "--override", "id=1")).toEqual([2, expect.stringContaining("give only one of the two")]);
  expect(await run("trigger", "calls", "--value", "{")).toEqual([2, expect.stringContaining("--value: is not JSON")]);
  expect(await run("trigger", "social.comments")).toEqual([1, expect.stringContaining("the world has no social_accounts")]);
  expect(await run("listen", "--app", "77")).toEqual([1, expect.stringContaining("77")]);
  expect(await run("listen", "--forward-to", "ftp://localhost")).toEqual([2, expect.stringContaining("is not an http address")]);
  expect(await run("listen", "--events", "messages,comment")).toEqual([2, expect.stringContaining("did you mean comments?")]);
  expect(await run("listen", "--port", "70000")).toEqual([2, expect.stringContaining('--port: "70000" is not an integer from 0 to 65535')]);
  expect(await run("listen", "--port", new URL(server.control_url).port)).toEqual([2, expect.stringContaining("is in use by another program")]);
  expect(await run("deliveries", "show", "1")).toEqual([1, "plaza: there is no delivery 1\n"]);
  expect(await run("deliveries", "resend")).toEqual([2, expect.stringContaining("give either ids of deliveries or --since")]);
  expect(await run("deliveries", "resend", "1", "--callback", "http://127.0.0.1/")).toEqual([2, expect.stringContaining("--callback needs --since")]);
  expect(await run("deliveries", "list", "--limit", "0")).toEqual([1, expect.stringContaining("limit")]);
});
