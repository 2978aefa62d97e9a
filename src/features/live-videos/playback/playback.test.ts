/** Tests which page, playlist and segments a player may load, and for how long. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openPlaza } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { transitionLiveVideo } from "../lifecycle/live-state.ts";
import { findSegment, openPlayer, readPlaylist } from "./playback.ts";

const anybody = { country: undefined, isMobileWeb: false };
const HOUR_MS = 3_600_000;

const onPage = (id: string, more: object) => ({ id, page: "2001", embeddable: true, ...more });
const videos = [
  onPage("1", { status: "VOD", title: "Opening" }),
  onPage("2", { status: "VOD", embeddable: false }),
  onPage("3", { status: "UNPUBLISHED" }),
  onPage("4", { status: "VOD", targeting: { geo_locations: { countries: ["DE"] } } }),
  onPage("5", { status: "LIVE" }),
  onPage("6", { status: "VOD", condition: "taken_down" }),
];

async function open(hasRecordings = true) {
  const recordings = temporaryFolder();
  const { world, time } = await openPlaza({ database: "sqlite", world: { ...cafe, live_videos: videos }, ...(hasRecordings ? { recordings } : {}) });
  const ticketOf = async (id: string, viewer = anybody): Promise<string> => {
    const view = await openPlayer(world, id, viewer);
    if (typeof view === "string") throw new Error(`the player is refused: ${view}`);
    return view.ticket;
  };
  const record = (id: string, line: string): void => {
    const folder = join(recordings, world.name, id, "1");
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, "index"), line);
  };
  const playlist = async (id: string, ticket: string, viewer = anybody) => {
    const found = await readPlaylist(world, id, ticket, viewer, Bun.sleep);
    return typeof found === "string" ? found : found.playlist.includes("#EXT-X-ENDLIST") ? "whole" : "growing";
  };
  return { world, time, recordings, ticketOf, record, playlist };
}

test("LIVE-5: the player's page exists for watchable videos, and, without a title, for those that begin soon", async () => {
  const { world, time } = await open();
  const title = async (id: string, viewer = anybody) => {
    const view = await openPlayer(world, id, viewer);
    return typeof view === "string" ? view : `title ${view.title}`;
  };
  expect([await title("1"), await title("5")]).toEqual(["title Opening", "title null"]);
  for (const id of ["2", "3", "6", "7", "2001", "x", ""]) expect({ id, title: await title(id) }).toEqual({ id, title: "missing" });
  expect([await title("4"), await title("4", { ...anybody, country: "DE" } as never)]).toEqual(["not_in_this_country", "title null"]);
  time.realMs += 10_000;
  expect(await title("5", { ...anybody, isMobileWeb: true })).toBe("not_on_mobile_web_until_vod");
});

test("a ticket belongs to one video and one world's key, and is valid for twelve hours", async () => {
  const { time, ticketOf, record, playlist } = await open();
  record("1", "2000 9 1000\nend\n");
  record("4", "2000 9 1000\nend\n");
  const ticket = await ticketOf("1");
  expect([await playlist("1", ticket), await playlist("4", ticket), await playlist("1", `${ticket}x`), await playlist("1", "")]).toEqual([
    ...["whole", "missing", "missing", "missing"],
  ]);
  time.realMs += 12 * HOUR_MS;
  expect(await playlist("1", ticket)).toBe("whole");
  time.realMs += 1;
  expect(await playlist("1", ticket)).toBe("missing");
});

test("LIVE-24: if a request does not name a country, the page's country counts", async () => {
  const { ticketOf, record, playlist } = await open();
  record("4", "2000 9 1000\nend\n");
  const inGermany = { ...anybody, country: "DE" } as never;
  const ticket = await ticketOf("4", inGermany);
  expect([
    await playlist("4", ticket),
    await playlist("4", ticket, inGermany),
    await playlist("4", ticket, { ...anybody, country: "FR" } as never),
  ]).toEqual([...["whole", "whole", "not_in_this_country"]]);
});

test("D-296: the playlist of an ended broadcast ends at once, even after a kill, and includes a last segment that is still being written", async () => {
  const { world, time, ticketOf, record, playlist } = await open();
  const ticket = await ticketOf("1");
  expect(await playlist("1", ticket)).toBe("starting");
  // The process that received the feed was killed, so the recording has no end mark.
  record("1", `2000 9 ${time.realMs - 5_000}\n`);
  expect(await playlist("1", ticket)).toBe("whole");
  time.realMs += HOUR_MS;
  expect(await playlist("1", ticket)).toBe("whole");
  // The ingest process writes the last segment while a player waits for the segment.
  record("1", `2000 9 ${time.realMs - 1_000}\n`);
  const waiting = readPlaylist(world, "1", ticket, anybody, Bun.sleep);
  record("1", `1000 9 ${time.realMs + 1_000}\nend\n`);
  const found = await waiting;
  expect(typeof found === "string" ? found : found.playlist.split("\n").slice(-4)).toEqual(["#EXTINF:1.000,", "1/2.ts", "#EXT-X-ENDLIST", ""]);
  // Plaza assumes that the recording of a live video still grows, even if no segment arrives for a long time.
  const live = await ticketOf("5");
  time.realMs += HOUR_MS;
  record("5", "2000 9 1000\nend\n");
  expect(await playlist("5", live)).toBe("growing");
  await transitionLiveVideo(world, nodeId("5"), "end_signalled");
  expect(await playlist("5", live)).toBe("whole");
  await transitionLiveVideo(world, nodeId("5"), "taken_down");
  expect(await playlist("5", live)).toBe("missing");
});

test("D-115: the stream before the publication is not played", async () => {
  const { world, time, ticketOf, record } = await open();
  record("3", `2000 9 ${time.realMs - 2_000}\n`);
  await transitionLiveVideo(world, nodeId("3"), "published");
  record("3", `2000 9 ${time.realMs}\n`);
  time.realMs += 10_000;
  const ticket = await ticketOf("3");
  const found = await readPlaylist(world, "3", ticket, anybody, Bun.sleep);
  expect(typeof found === "string" ? found : found.playlist.match(/^\d.*ts$/gm)).toEqual(["1/1.ts"]);
});

test("a segment has the name in the playlist, in its own video's folder", async () => {
  const { world, recordings, ticketOf } = await open();
  const ticket = await ticketOf("1");
  const find = async (name: string, id = "1") => {
    const found = await findSegment(world, id, ticket, name, anybody);
    return typeof found === "string" ? found : new Response(found.content).text();
  };
  const folder = join(recordings, world.name, "1");
  for (const name of ["1/0.ts", "12/999999999.ts"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `bytes of ${name}`);
    expect(await find(name)).toBe(`bytes of ${name}`);
  }
  expect(await find("1/7.ts")).toBe("missing");
  for (const name of [
    "1/0.mp4",
    "1/index",
    "1/head.ts",
    "1/0.tsx",
    "../1/0.ts",
    "1/../0.ts",
    "/0.ts",
    "1/",
    "1/1234567890.ts",
    "1234567890123456/0.ts",
  ])
    expect({ name, found: await find(name) }).toEqual({ name, found: "missing" });
  expect(await find("1/0.ts", "4")).toBe("missing");
});

test("a server without recordings plays none", async () => {
  const { world, ticketOf, playlist } = await open(false);
  const ticket = await ticketOf("1");
  expect([await playlist("1", ticket), await findSegment(world, "1", ticket, "1/0.ts", anybody)]).toEqual(["starting", "missing"]);
});
