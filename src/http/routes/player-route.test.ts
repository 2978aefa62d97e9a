/** Checks the addresses of the player, and the country from which somebody watches. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlaza } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import { type PlayerOptions, playerRoute } from "./player-route.ts";

const onPage = (id: string, more: object) => ({ id, page: "2001", status: "VOD", embeddable: true, ...more });
const world = {
  ...cafe,
  live_videos: [
    onPage("1", { title: '<b> & "x"' }),
    onPage("4", { targeting: { geo_locations: { countries: ["DE"] } } }),
    onPage("5", { status: "LIVE" }),
  ],
};

async function open(options: Partial<PlayerOptions> = {}) {
  const recordings = temporaryFolder();
  const plaza = await openPlaza({ database: "sqlite", world, recordings });
  const deps = { registry: plaza.registry, monotonicMs: () => 0, traceId: () => "t", onUnexpected: () => {} };
  const route = playerRoute(deps, { isCountryChosen: true, countryHeader: "x-country", ...options });
  const get = async (path: string, headers: Record<string, string> = {}, more: object = {}) => {
    const [pathOnly = ""] = path.split("?");
    const destination = { world: plaza.world, baseUrl: "http://one", surface: "base", path: pathOnly, isFromProxy: true, ...more };
    return route(new Request(`http://one${path}`, { headers }), destination as unknown as Parameters<typeof route>[1]);
  };
  return { get, recordings, plaza };
}

test("the page names its playlist and its title, and is not cached; each has its own scripts", async () => {
  const { get } = await open();
  const [page, again] = [await get("/player/1"), await get("/player/1")];
  const text = await page.text();
  expect([page.status, page.headers.get("content-type"), page.headers.get("cache-control")]).toEqual([200, "text/html; charset=utf-8", "no-store"]);
  expect([page.headers.get("referrer-policy"), page.headers.get("x-content-type-options")]).toEqual(["no-referrer", "nosniff"]);
  expect(text).toContain("<title>&lt;b&gt; &amp; &quot;x&quot;</title>");
  expect(text).toMatch(/data-source="1\/[^"/]+\/live\.m3u8"/);
  const nonces = [page, again].map(({ headers }) => /script-src 'nonce-([^']{16})'/.exec(headers.get("content-security-policy") ?? "")?.[1]);
  expect(text).toContain(`<script nonce="${nonces[0]}"`);
  expect(nonces[0]).not.toBe(nonces[1]);
});

test("the library is served as a script, and only at its own address", async () => {
  const { get } = await open();
  const script = await get("/player/hls.js");
  expect([script.status, script.headers.get("content-type"), script.headers.get("cache-control")]).toEqual([
    ...[200, "text/javascript; charset=utf-8", "public, max-age=3600"],
  ]);
  expect(await script.text()).toContain("Hls");
  expect((await get("/player/hls.js/x")).status).toBe(400);
});

test("playlist and segments have their types; a missing segment is an unknown address", async () => {
  const { get, recordings, plaza } = await open();
  const folder = join(recordings, plaza.world.name, "1", "1");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index"), "2000 5 1000\nend\n");
  writeFileSync(join(folder, "0.ts"), "first");
  const source = /data-source="([^"]+)"/.exec(await (await get("/player/1")).text())?.[1] ?? "";
  const playlist = await get(`/player/${source}`);
  expect([playlist.status, playlist.headers.get("content-type"), playlist.headers.get("cache-control")]).toEqual([
    ...[200, "application/vnd.apple.mpegurl", "no-store"],
  ]);
  expect(await playlist.text()).toContain("1/0.ts\n#EXT-X-ENDLIST\n");
  const beside = source.replace("live.m3u8", "");
  const segment = await get(`/player/${beside}1/0.ts`);
  expect([segment.status, segment.headers.get("content-type"), segment.headers.get("content-length")]).toEqual([200, "video/mp2t", "5"]);
  expect([segment.headers.get("cache-control"), await segment.text()]).toEqual(["no-store", "first"]);
  const missing = await get("/player/9");
  expect([missing.status, missing.headers.get("cache-control")]).toEqual([400, "no-store"]);
  for (const path of [`${beside}1/1.ts`, `${beside}2/0.ts`, `${beside}live.m3u`, "1/x/live.m3u8"])
    expect((await get(`/player/${path}`)).status).toBe(400);
});

test("LIVE-24, LIVE-27, LIVE-28: an unavailable video says why, with a status that a player understands", async () => {
  const { get } = await open();
  const refusal = async (path: string, headers = {}) => {
    const response = await get(path, headers);
    return `${response.status} ${/<p>(.*)<\/p>/.exec(await response.text())?.[1]}`;
  };
  expect(await refusal("/player/4?country=FR")).toBe("403 This video is not available in your country.");
  // If a video is about to start, the page of the video waits for the start by itself.
  expect(await refusal("/player/5")).toBe("200 The video begins soon.");
  const source = /data-source="([^"]+)"/.exec(await (await get("/player/5")).text())?.[1];
  expect(await refusal(`/player/${source}`)).toBe("503 The video begins soon.");
  const later = await open();
  later.plaza.time.realMs += 10_000;
  for (const agent of ["Mobile", "Android", "iPhone", "iPad", "iPod"]) {
    const response = await later.get("/player/5", { "user-agent": `Mozilla/5.0 (${agent})` });
    expect([response.status, (await response.text()).includes("once the broadcast is over")]).toEqual([403, true]);
  }
  expect((await later.get("/player/5", { "user-agent": "Mozilla/5.0 (X11; Linux)" })).status).toBe(200);
});

test("LIVE-24: the chosen country has precedence over a proxy's", async () => {
  const mayWatch = async (options: Partial<PlayerOptions>, query: string, named: string | undefined, more: object) => {
    const { get } = await open(options);
    return (await get(`/player/4${query}`, named === undefined ? {} : { "x-country": named }, more)).status === 200;
  };
  expect([
    await mayWatch({}, "?country=de", "FR", {}),
    await mayWatch({}, "?country=FR", "DE", {}),
    await mayWatch({}, "?country=XX", undefined, {}),
    await mayWatch({ isCountryChosen: false }, "?country=FR", "DE", {}),
    await mayWatch({ isCountryChosen: false }, "?country=DE", "FR", {}),
    await mayWatch({}, "", "DE", {}),
    await mayWatch({}, "", "FR", {}),
    await mayWatch({}, "", "DE", { isFromProxy: false }),
    await mayWatch({ countryHeader: undefined }, "", "DE", {}),
    await mayWatch({}, "", undefined, {}),
  ]).toEqual([true, false, false, true, false, true, false, false, false, false]);
});
