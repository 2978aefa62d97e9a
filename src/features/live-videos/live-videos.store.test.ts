/** Tests which videos an SQL statement selects: each test also stores videos of other pages, places and countries. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import {
  deleteVideo,
  deleteVideosOfPage,
  findVideo,
  findVideoById,
  findVideoByKey,
  forgetPlace,
  insertVideo,
  isShown,
  type LiveVideoRow,
  listAllVideos,
  listCrosspostedPages,
  listPagesOfVideos,
  listReadingPages,
  listRunning,
  listVideosOfPage,
  listVideosOnMap,
  saveCrosspostedPages,
  updateVideo,
} from "./live-videos.store.ts";

const [PAGE, OTHER, THIRD] = ["21", "22", "23"] as const;

const video = (id: string, words: Partial<LiveVideoRow> = {}): LiveVideoRow => ({
  ...{ page: PAGE, id, title: null, description: null, state: "live", embeddable: 1, place: null, countries: "", excluded_countries: "" },
  ...{ planned_start_time: null, creation_time: 1, broadcast_start_ms: 1_000, stream_key_hash: null, has_feed: 0, feed_session: 0 },
  ...{ deadline_ms: null, sealing_fails: 0, sealing_tries: 0, is_on_map: 0, takedown_reason: null, end_reason: null, feed_ingest: null },
  ...{ feed_width: null, feed_height: null, published_real_ms: null, history: "[]", ...words },
});

onEachDatabase("stored videos", (database) => {
  const open = async (...videos: readonly (LiveVideoRow | readonly [LiveVideoRow, ...string[]])[]) => {
    const { world } = await openPlaza({ database });
    const { reader } = world.database;
    const write = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> => world.database.write(body);
    for (const one of videos) {
      const [row, ...crossposted] = "id" in one ? [one] : one;
      await write((tx) => insertVideo(tx, row, crossposted));
    }
    const idsOf = async (page: string) => (await listVideosOfPage(reader, nodeId(page), { limit: 50 })).rows.map(({ id }) => id);
    const onMap = async (country: string | undefined, startedMs = 5_000) =>
      (await listVideosOnMap(reader, country, startedMs, { limit: 50 })).rows.map(({ id }) => id);
    return { reader, write, idsOf, onMap };
  };

  test("a video is read as it was stored and changed, and its id is taken", async () => {
    const all = video("101", {
      ...{ title: "t", description: "d", state: "ending", embeddable: 0, place: '{"id":"7"}', countries: " DE ", excluded_countries: " FR " },
      ...{ planned_start_time: 2, creation_time: 3, broadcast_start_ms: 4, stream_key_hash: "k", has_feed: 1, feed_session: 5, deadline_ms: 6 },
      ...{ sealing_fails: 7, sealing_tries: 8, is_on_map: 1, takedown_reason: "COPYRIGHT", end_reason: "NO_AUDIO", feed_ingest: "i" },
      ...{ feed_width: 9, feed_height: 10, published_real_ms: 11, history: '[["live",1]]' },
    });
    const { reader, write } = await open(all, video("102"));
    expect(await findVideo(reader, nodeId(PAGE), "101")).toEqual(all);
    await write((tx) => updateVideo(tx, { ...video("101"), title: "new" }));
    expect(await findVideoById(reader, nodeId("101"))).toEqual({ ...video("101"), title: "new" });
    expect(await findVideoById(reader, nodeId("102"))).toEqual(video("102"));
    expect(await findVideo(reader, nodeId(OTHER), "101")).toBeUndefined();
    expect(await write((tx) => insertVideo(tx, video("101", { page: OTHER }), []))).toBe(false);
    await write((tx) => updateVideo(tx, video("102", { stream_key_hash: "k" })));
    expect((await findVideoByKey(reader, "k"))?.id).toBe("102");
    expect(await findVideoByKey(reader, "l")).toBeUndefined();
  });

  test("running broadcasts are those with the status LIVE, newest first, up to the given number", async () => {
    const states = ["live", "reconnecting", "key_dead", "ending", "unpublished", "scheduled_live", "vod", "taken_down"] as const;
    const { reader } = await open(...states.map((state, at) => video(String(101 + at), { state })));
    const running = async (limit: number) => (await listRunning(reader, limit)).map(({ id }) => id);
    expect([await running(10), await running(2)]).toEqual([
      ["104", "103", "102", "101"],
      ["104", "103"],
    ]);
  });

  test("LIVE-25: a page lists its own and shared videos, newest first; D-110: of videos that were taken down only its own", async () => {
    const gone = { state: "taken_down", takedown_reason: "COPYRIGHT" } as const;
    const { idsOf, reader } = await open([video("101"), OTHER], video("102"), [video("103", gone), OTHER], video("104", { page: OTHER }), [
      video("105", { page: OTHER }),
      PAGE,
      THIRD,
    ]);
    expect([await idsOf(PAGE), await idsOf(OTHER), await idsOf(THIRD)]).toEqual([["105", "103", "102", "101"], ["105", "104", "101"], ["105"]]);
    expect((await listAllVideos(reader, { limit: 50 })).rows.map(({ id }) => id)).toEqual(["101", "102", "103", "104", "105"]);
    const readers = async (id: string, page: string = PAGE) => (await listReadingPages(reader, nodeId(page), nodeId(id))).map(String);
    expect([await readers("101"), await readers("102"), await readers("103"), await readers("105", OTHER), await readers("9")]).toEqual([
      ...[[OTHER], [], []],
      ...[[PAGE, THIRD], []],
    ]);
    expect([await isShown(reader, nodeId(PAGE), nodeId("101")), await isShown(reader, nodeId(PAGE), nodeId("103"))]).toEqual([true, false]);
  });

  test("a video is shown by its own page and the sharing ones, which are replaced as a whole", async () => {
    const { write, reader, idsOf } = await open([video("101"), OTHER, OTHER], [video("102"), OTHER], video("103", { page: OTHER }));
    await write((tx) => saveCrosspostedPages(tx, video("101"), [THIRD, PAGE]));
    expect((await listCrosspostedPages(reader, PAGE, "101")).map(String)).toEqual([THIRD]);
    const rows = [video("103", { page: OTHER }), video("101"), video("102")];
    expect((await listPagesOfVideos(reader, rows)).map((pages) => pages.map(String))).toEqual([[], [THIRD], [OTHER]]);
    expect([await idsOf(PAGE), await idsOf(OTHER)]).toEqual([
      ["102", "101"],
      ["103", "102"],
    ]);
  });

  test("C1-3, LIVE-24: the map shows videos that have begun and may be watched in the country, or everywhere if the country is unknown", async () => {
    const mapped = (id: string, words: Partial<LiveVideoRow> = {}) => video(id, { is_on_map: 1, ...words });
    const { onMap } = await open(
      mapped("101", { broadcast_start_ms: 5_000 }),
      mapped("102", { broadcast_start_ms: 5_001 }),
      mapped("103", { countries: " AT DE " }),
      mapped("104", { excluded_countries: " AT DE " }),
      mapped("105", { countries: " DE FR ", excluded_countries: " DE " }),
      video("106"),
      mapped("107", { broadcast_start_ms: null }),
    );
    expect(await onMap("DE")).toEqual(["103", "101"]);
    expect(await onMap("FR")).toEqual(["105", "104", "101"]);
    expect(await onMap(undefined)).toEqual(["101"]);
    expect(await onMap("DE", 5_001)).toEqual(["103", "102", "101"]);
  });

  test("LIVE-14: a deleted video is on no page; a deleted page deletes its own videos and leaves others to their pages", async () => {
    const { write, reader, idsOf } = await open([video("101"), OTHER], video("102"), [video("103", { page: OTHER }), PAGE], [video("104"), THIRD]);
    await write((tx) => deleteVideo(tx, video("101")));
    expect([await idsOf(PAGE), await idsOf(OTHER)]).toEqual([["104", "103", "102"], ["103"]]);
    expect(await findVideoById(reader, nodeId("101"))).toBeUndefined();
    expect((await write((tx) => deleteVideosOfPage(tx, nodeId(PAGE)))).sort()).toEqual(["102", "104"]);
    expect([await idsOf(PAGE), await idsOf(OTHER), await idsOf(THIRD)]).toEqual([[], ["103"], []]);
    expect(await listCrosspostedPages(reader, OTHER, "103")).toEqual([]);
  });

  test("D-51: a deleted place leaves its coordinates, and a video without any is no longer on the map", async () => {
    const location = { latitude: 1, longitude: 2 };
    const at = (place: object, id: string) => video(id, { is_on_map: 1, place: JSON.stringify(place) });
    const { write, reader, onMap } = await open(
      at({ id: "7" }, "101"),
      at({ id: "7", location }, "102"),
      at({ id: "77" }, "103"),
      at({ location }, "104"),
    );
    await write((tx) => forgetPlace(tx, nodeId("7")));
    const places = Object.fromEntries((await listAllVideos(reader, { limit: 50 })).rows.map(({ id, place }) => [id, place]));
    expect(places).toEqual({ 101: null, 102: JSON.stringify({ location }), 103: '{"id":"77"}', 104: JSON.stringify({ location }) });
    expect(await onMap(undefined)).toEqual(["104", "103", "102"]);
  });
});
