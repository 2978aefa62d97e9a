/**
 * Checks that strangers neither open closed worlds nor learn which worlds exist (D-333), and that everybody who has e.g. a token or a stream key of a
 * world opens it.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { closeUnusedWorlds, newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { worldOf } from "./server-of-worlds.ts";

const openIn = ({ plaza }: OwnServer): string[] => [...plaza.worlds.open()].map(({ name }) => name);

/** Runs the check for unused worlds twice, because the first check still sees the earlier requests; a server runs it once a minute. */
async function closeIdle(server: OwnServer): Promise<void> {
  for (let minute = 0; minute < 2; minute++) await closeUnusedWorlds(server);
  expect(openIn(server)).not.toContain("closed");
}

const KEY = "closed.streamkey";

const fileOf = (profile: string) => ({
  ...worldOf("closed"),
  profile,
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", allow_tokenless_events: true }],
  live_videos: [{ id: "5301", page: "2001", status: "UNPUBLISHED", stream_key: KEY }],
  tokens: [...worldOf("closed").tokens, { token: "ended", type: "page", app: "1001", page: "2001", expires_at: 1, scopes: ["pages_messaging"] }],
});

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | FormData;
}

const unknown = { authorization: "Bearer unknown" };
const form = { "content-type": "application/x-www-form-urlencoded" };

const STRANGE: readonly Asked[] = [
  { path: "/v26.0/2001" },
  { path: "/v26.0/2001", headers: unknown },
  { path: "/v26.0/2001?access_token=unknown" },
  { path: "/v26.0/2001?access_token=1001|wrong" },
  { path: "/v26.0/2001/custom_labels?access_token=unknown&oauth_token=unknown", headers: unknown },
  { path: "/v26.0/nothing/at/all" },
  { path: "/v99.0/2001", headers: unknown },
  { path: "/" },
  { path: "" },
  { path: "/", headers: { accept: "text/html" } },
  { path: "/ads/v25.0/8001", headers: unknown },
  { path: "/microblog/v1.0/7001", headers: unknown },
  { path: "/social-login/me" },
  { path: "/player/77" },
  { path: "/player/5301x" },
  { path: "/openapi.json" },
  { path: "/v26.0/2001/custom_labels", method: "OPTIONS" },
  { path: "/v26.0/?ids=2001,2002", headers: unknown },
  { path: "/v26.0/2001/custom_labels", method: "POST", headers: form, body: "access_token=unknown&page_label_name=a" },
  { path: "/v26.0/", method: "POST", headers: unknown, body: JSON.stringify({ batch: [{ method: "GET", relative_url: "me" }] }) },
  { path: "/app/77/activities", method: "POST", headers: form, body: "event=CUSTOM_APP_EVENTS" },
  { path: "/v26.0/2001", headers: { "content-encoding": "br" }, method: "POST", body: "x" },
  { path: "/v26.0/2001", headers: { "sec-fetch-site": "cross-site" } },
];

const KNOWING: Readonly<Record<string, Asked>> = {
  "a token in a header": { path: "/v26.0/2001?access_token=page-token&oauth_token=page-token", headers: { authorization: "Bearer page-token" } },
  "a token in the query": { path: "/v26.0/2001?access_token=page-token" },
  "a token in a form": { path: "/v26.0/2001", method: "POST", headers: form, body: "access_token=page-token" },
  "a token in JSON": {
    path: "/v26.0/2001",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ access_token: "page-token" }),
  },
  "a token in a part of a batch": {
    path: "/v26.0/?access_token=unknown",
    method: "POST",
    headers: form,
    body: new URLSearchParams({
      access_token: "page-token",
      batch: JSON.stringify([{ method: "GET", relative_url: "me?access_token=page-token" }]),
    }).toString(),
  },
  "the secret of an app": { path: "/v26.0/1001?access_token=1001|s3cret" },
  "a token that has ended": { path: "/v26.0/2001?access_token=ended", headers: { authorization: "Bearer ended" } },
  "an app that takes events without a token": { path: "/app/1001/activities", method: "POST", headers: form, body: "event=CUSTOM_APP_EVENTS" },
  "a video": { path: "/player/5301" },
};

async function askFor(server: OwnServer, world: string, { path, ...init }: Asked) {
  const response = await fetch(`${server.baseUrl}/w/${world}${path}`, init as RequestInit);
  const headers = Object.fromEntries(response.headers);
  const body = (await response.text()).replaceAll(/"A[\w-]{10,}"/g, '"TRACE"').replaceAll(`/w/${world}`, "/w/NAME");
  return { status: response.status, headers: { ...headers, "x-pf-trace-id": "TRACE", date: "now" }, body };
}

onEachDatabase("D-333: strangers", (kind) => {
  test.each(["strict", "clients"])(
    "get the same response from a closed [%s] world, an open one and one that does not exist, and open none",
    async (profile) => {
      const server = await startOwnServer({ data: await newData(kind), profile });
      for (const name of ["closed", "open"]) await server.control("POST", "worlds", { name, file: fileOf(profile) });
      await closeIdle(server);
      const held = await server.plaza.worlds.hold("open");
      for (const asked of STRANGE) {
        const [closed, open, none] = [
          await askFor(server, "closed", asked),
          await askFor(server, "open", asked),
          await askFor(server, "none", asked),
        ];
        expect({ asked, closed, none }).toEqual({ asked, closed: open, none: open });
      }
      expect(openIn(server)).toEqual(["default", "open"]);
      held?.leave();
    },
  );

  test("get errors in the form of the closed world's profile", async () => {
    const server = await startOwnServer({ data: await newData(kind) });
    for (const name of ["closed", "open"]) await server.control("POST", "worlds", { name, file: fileOf("clients") });
    await closeIdle(server);
    const held = await server.plaza.worlds.hold("open");
    const asked = { path: "/app/77/activities", method: "POST" };
    expect(await askFor(server, "closed", asked)).toEqual(await askFor(server, "open", asked));
    expect(openIn(server)).toEqual(["default", "open"]);
    held?.leave();
  });

  test("who have something of a closed world open it, and get its response", async () => {
    const server = await startOwnServer({ data: await newData(kind) });
    for (const name of ["closed", "open"]) await server.control("POST", "worlds", { name, file: fileOf("clients") });
    for (const [name, asked] of Object.entries(KNOWING)) {
      await closeIdle(server);
      const response = await askFor(server, "closed", asked);
      expect({ name, open: openIn(server).includes("closed") }).toEqual({ name, open: true });
      expect({ name, response }).toEqual({ name, response: await askFor(server, "open", asked) });
    }
    await server.control("DELETE", "worlds/closed");
    expect((await askFor(server, "closed", { path: "/v26.0/2001?access_token=page-token" })).status).toBe(401);
  });

  test("do not open a world with a stream key that is not the world's", async () => {
    const server = await startOwnServer({ data: await newData(kind) });
    await server.control("POST", "worlds", { name: "closed", file: fileOf("strict") });
    await closeIdle(server);
    const callback = async (name: string) =>
      (
        await fetch(`${server.plaza.ready.control_url}/v1/worlds/closed/live-feeds/callback`, {
          method: "POST",
          body: new URLSearchParams({ call: "publish", name, clientid: "1" }),
        })
      ).status;
    expect({ status: await callback("closed.wrong"), open: openIn(server) }).toEqual({ status: 403, open: ["default"] });
    expect({ status: await callback(KEY), open: openIn(server) }).toEqual({ status: 200, open: ["default", "closed"] });
  });
});
