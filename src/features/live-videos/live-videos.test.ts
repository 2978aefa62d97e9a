import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOfLink, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { redactJson } from "#kernel/redaction/redaction";
import { codePointCount, isStorableText } from "#kernel/text";

const scopes = ["pages_manage_posts", "pages_read_engagement"];

const liveWorld = {
  ...cafe,
  places: [{ id: "9901", name: "Terrace" }, { id: "9902" }],
  live_videos: [{ id: "5301", page: "2001", title: "Opening" }],
  tokens: [
    ...cafe.tokens,
    { token: "author", type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: "bar-live", type: "page", app: "1001", page: "2002", scopes },
    { token: "bar-live-of-other-app", type: "page", app: "1002", page: "2002", scopes },
  ],
};

const bearer = "author";
const ON_PAGE = "/v26.0/2001/live_videos";

onEachDatabase("live videos", (database) => {
  const open = (options = {}) =>
    openPlaza({ database, world: liveWorld, streaming: { rtmpPort: 1935, rtmpsPort: undefined, rtmpUrl: undefined }, ...options });
  const create = async (plaza: TestPlaza, body: Record<string, unknown> = {}): Promise<string> => {
    const { status, body: made } = await plaza.post(ON_PAGE, { bearer, body });
    expect({ status, message: made.error?.message }).toEqual({ status: 200, message: undefined });
    return made.id;
  };
  const update = (plaza: TestPlaza, id: string, body: Record<string, unknown>) => plaza.post(`/v26.0/${id}`, { bearer, body });
  const read = async (plaza: TestPlaza, id: string, fields?: string) =>
    (await plaza.get(`/v26.0/${id}`, { bearer, query: fields === undefined ? {} : { fields } })).body;
  const refusal = ({ status, body }: Awaited<ReturnType<typeof update>>) => [status, body.error?.code, body.error?.error_data?.parameter];

  test("D-51: a created video shows its stream address once and is unpublished until it is published", async () => {
    const plaza = await open();
    const { body: made } = await plaza.post(ON_PAGE, { bearer, body: { title: "Launch", description: "Live from the cafe" } });
    expect(Object.keys(made)).toEqual(["id", "stream_url", "stream_key"]);
    // The stream key has at least 96 bits in base64url.
    expect(made.stream_key).toMatch(/^(\w+\.)?[\w-]{16,}$/);
    expect(made.stream_url).toBe(`rtmp://plaza.test:1935/live/${made.stream_key}`);
    const shown = { id: made.id, title: "Launch", description: "Live from the cafe", embeddable: false, creation_time: "2026-11-18T11:06:40+0000" };
    expect(await read(plaza, made.id)).toEqual({ ...shown, status: "UNPUBLISHED" });
    expect(await read(plaza, made.id, "stream_url,stream_key,secure_stream_url")).toEqual({ id: made.id });
    expect((await update(plaza, made.id, { status: "LIVE_NOW" })).body).toEqual({ id: made.id, success: true });
    expect(await read(plaza, made.id, "status,broadcast_start_time")).toEqual({
      id: made.id,
      status: "LIVE",
      broadcast_start_time: "2026-11-18T11:06:40+0000",
    });
    expect(refusal(await update(plaza, made.id, { status: "LIVE" }))).toEqual([400, 100, "status"]);
  });

  test("C1: an update keeps the parameters that it omits", async () => {
    const plaza = await open();
    const known: Record<string, unknown> = { title: "T", description: "D", embeddable: true };
    const id = await create(plaza, known);
    for (const change of [{ title: "T2" }, { description: "D2" }, { embeddable: false }]) {
      await update(plaza, id, change);
      expect(await read(plaza, id, "title,description,embeddable")).toEqual({ id, ...Object.assign(known, change) });
    }
  });

  test("D-51: only the response that creates a key contains it, and all keys differ", async () => {
    const plaza = await open();
    const keys = new Set<string>();
    for (let i = 0; i < 5; i++) {
      const { body } = await plaza.post(ON_PAGE, { bearer, body: {} });
      keys.add(body.stream_key);
      // The control API returns the request log, so Plaza must remove stream keys from the log.
      expect(redactJson(JSON.stringify(body))).not.toContain(body.stream_key);
    }
    expect(keys.size).toBe(5);
    const stored = JSON.stringify(await plaza.dump(["live_videos.stream_key_hash"]));
    for (const key of keys) expect(stored).not.toContain(key);
  });

  test("C2, LIVE-4, LIVE-5: embed_html is iframe markup, only when requested by name and while embedding is enabled", async () => {
    const plaza = await open();
    expect(await read(plaza, "5301", "embed_html")).toEqual({ id: "5301" });
    expect((await update(plaza, "5301", { embeddable: true })).status).toBe(200);
    const { embed_html } = await read(plaza, "5301", "embed_html");
    expect(embed_html).toMatch(/^<iframe src="http:\/\/plaza\.test\/player\/5301" .*><\/iframe>$/);
    expect(await read(plaza, "5301")).not.toHaveProperty("embed_html");
    await update(plaza, "5301", { embeddable: "false" });
    expect(await read(plaza, "5301", "embed_html,embeddable")).toEqual({ id: "5301", embeddable: false });
  });

  test("C1, D-51: place is an id, a point, or an object of both; anything else is refused and changes nothing", async () => {
    const plaza = await open();
    const places: [unknown, unknown][] = [
      ["9901", { id: "9901" }],
      [9901, { id: "9901" }],
      [{ id: "9902" }, { id: "9902" }],
      ['{"location":{"latitude":52.5,"longitude":"-13.4"}}', { location: { latitude: 52.5, longitude: -13.4 } }],
      [
        { location: { latitude: 0, longitude: 180 }, id: "2002" },
        { id: "2002", location: { latitude: 0, longitude: 180 } },
      ],
      ["", undefined],
      ["9901", { id: "9901" }],
      [null, undefined],
      ["2001", { id: "2001" }],
      ["null", undefined],
    ];
    for (const [given, stored] of places) {
      expect((await update(plaza, "5301", { place: given })).status).toBe(200);
      expect((await read(plaza, "5301", "place")).place).toEqual(stored);
    }
    await update(plaza, "5301", { place: "9901" });
    const wrong = [
      "here",
      {},
      { location: {} },
      { location: { latitude: 91, longitude: 0 } },
      { location: { latitude: 1, longitude: "x" } },
      [1],
      "{",
      { id: "0" },
      "999999",
      { id: "999999", location: { latitude: 0, longitude: 0 } },
      // The ids belong to nodes of other types.
      "5301",
      "1001",
      "3001",
    ];
    for (const place of wrong) expect((await update(plaza, "5301", { place, title: "no" })).body.error?.code).toBe(100);
    expect(await read(plaza, "5301", "place,title")).toEqual({ id: "5301", place: { id: "9901" }, title: "Opening" });
  });

  test("C1-3, LIM-9: the live map lists live videos with a place, some seconds after their start", async () => {
    const plaza = await open();
    const map = async (query = {}) => (await plaza.get("/v26.0/live_map", { bearer, query })).body.data.map(({ id }: { id: string }) => id);
    const id = await create(plaza, { status: "LIVE_NOW", place: "9901", title: "Here" });
    await create(plaza, { status: "LIVE_NOW" });
    await create(plaza, { place: "9901" });
    expect(await map()).toEqual([]);
    plaza.time.realMs += 4_000;
    expect(await map()).toEqual([]);
    plaza.time.realMs += 1_000;
    expect(await map()).toEqual([id]);
    expect((await plaza.get("/v26.0/live_map", { bearer: "bar-live", query: { fields: "title,place,page{name}" } })).body.data).toEqual([
      { id, title: "Here", place: { id: "9901" }, page: { id: "2001", name: "Cafe" } },
    ]);
    // D-114: a cursor of the live map is valid only for the app that got it.
    const { after } = (await plaza.get("/v26.0/live_map", { bearer })).body.paging.cursors;
    expect((await plaza.get("/v26.0/live_map", { bearer: "bar-live", query: { after } })).body.data).toEqual([]);
    const ofOther = await plaza.get("/v26.0/live_map", { bearer: "bar-live-of-other-app", query: { after } });
    expect(ofOther.body.error.error_data.parameter).toBe("after");
    await update(plaza, id, { end_live_video: true });
    expect(await map()).toEqual([]);
    for (const token of ["app", "no-scope"]) expect((await plaza.get("/v26.0/live_map", { bearer: token })).status).toBeOneOf([401, 403]);
  });

  test("LIVE-24, D-51: targeting is validated, returned, and filters the live map by country", async () => {
    const plaza = await open();
    const targeting = { geo_locations: { countries: ["de", "FR"] }, excluded_countries: ["FR"] };
    const gated = await create(plaza, { status: "LIVE_NOW", place: "9901", targeting });
    const blocked = await create(plaza, { status: "LIVE_NOW", place: "9901", targeting: JSON.stringify({ excluded_countries: ["US"] }) });
    const free = await create(plaza, { status: "LIVE_NOW", place: "9901" });
    plaza.time.realMs += 10_000;
    expect((await read(plaza, gated, "targeting")).targeting).toEqual({ geo_locations: { countries: ["DE", "FR"] }, excluded_countries: ["FR"] });
    const seenFrom = async (country?: string) =>
      (await plaza.get("/v26.0/live_map", { bearer, query: country === undefined ? {} : { country } })).body.data.map(({ id }: { id: string }) => id);
    expect(await seenFrom("DE")).toEqual([free, blocked, gated]);
    expect(await seenFrom("fr")).toEqual([free, blocked]);
    expect(await seenFrom("US")).toEqual([free]);
    expect(await seenFrom()).toEqual([free]);
    expect((await plaza.get("/v26.0/live_map", { bearer, query: { country: "XX" } })).body.error.error_data.parameter).toBe("country");
    for (const wrong of [{ excluded_countries: ["XX"] }, { geo_locations: { regions: ["1"] } }, { age_min: 18 }, "DE"]) {
      expect((await update(plaza, gated, { targeting: wrong })).body.error.code).toBe(100);
    }
    await update(plaza, gated, { targeting: {} });
    expect(await read(plaza, gated, "targeting")).toEqual({ id: gated });
  });

  test("D-51: planned broadcasts need a time in the future; a time alone plans one", async () => {
    const plaza = await open();
    const soon = 1_795_000_600;
    const id = await create(plaza, { planned_start_time: soon });
    expect(await read(plaza, id, "status,planned_start_time")).toEqual({
      id,
      status: "SCHEDULED_UNPUBLISHED",
      planned_start_time: "2026-11-18T11:16:40+0000",
    });
    const auto = await create(plaza, { status: "SCHEDULED_LIVE", planned_start_time: "2026-11-18T11:16:40+0000" });
    expect((await read(plaza, auto, "status")).status).toBe("SCHEDULED_LIVE");
    const refused = async (body: Record<string, unknown>) => refusal(await plaza.post(ON_PAGE, { bearer, body }));
    const aboutTime = [400, 100, "planned_start_time"];
    expect(await refused({ status: "SCHEDULED_LIVE" })).toEqual(aboutTime);
    expect(await refused({ planned_start_time: 1_795_000_000 })).toEqual(aboutTime);
    for (const wrong of ["soon", "2028-02-30", "2027-02-29T10:00:00Z", "2028-13-01"])
      expect(await refused({ planned_start_time: wrong })).toEqual(aboutTime);
    expect(await read(plaza, await create(plaza, { planned_start_time: "2028-02-29" }), "planned_start_time")).toMatchObject({
      planned_start_time: "2028-02-29T00:00:00+0000",
    });
    expect(await refused({ status: "LIVE_NOW", planned_start_time: soon })).toEqual(aboutTime);
    expect(await refused({ status: "VOD" })).toEqual([400, 100, "status"]);
    expect((await update(plaza, id, { status: "SCHEDULED_CANCELED" })).status).toBe(200);
    expect(refusal(await update(plaza, id, { status: "LIVE_NOW" }))).toEqual([400, 100, "status"]);
    expect(refusal(await update(plaza, id, { planned_start_time: soon }))).toEqual(aboutTime);
    expect((await read(plaza, id, "status")).status).toBe("SCHEDULED_CANCELED");
  });

  test("LIVE-19 to LIVE-21, D-113: boosting, ads and captions are refused in every spelling and with any value; nothing is written", async () => {
    const plaza = await open();
    const boosting = ["boosted", "boost_budget", "isBoosted", "Boosting", "auto-boost", "promoted", "is_promotable"];
    const ads = ["ad_breaks", "adBreakConfig", "adbreaks", "ad_break_start_now", "pre_roll", "preroll", "midRoll", "bumpers"];
    const adWords = ["third_party_ads", "Ads", "hasAds", "adUnit", "isAdAllowed", "video2Ads", "ad", "no-ads"];
    const captions = ["captions", "closed_captions", "captions_file", "closedCaptions", "subtitles"];
    for (const name of [...boosting, ...ads, ...adWords, ...captions, "commercial_break_durations", "sponsor_id"]) {
      expect(refusal(await update(plaza, "5301", { [name]: false, title: "no" }))).toEqual([400, 100, name]);
      expect(refusal(await plaza.post(ON_PAGE, { bearer, body: { [name]: null } }))).toEqual([400, 100, name]);
      expect(refusal(await plaza.post("/v26.0/5301", { bearer, query: { [name]: "" } }))).toEqual([400, 100, name]);
    }
    // Unrelated unknown parameters are ignored (D-34), even if their names contain the letters of a refused word.
    for (const name of ["privacy", "uploads", "is_loaded", "heading", "loadAddress"])
      expect((await update(plaza, "5301", { [name]: "1" })).status).toBe(200);
    for (const edge of ["ad_breaks", "boost", "captions"]) {
      expect((await plaza.post(`/v26.0/5301/${edge}`, { bearer })).body.error.error_subcode).toBe(33);
    }
    expect((await plaza.get(ON_PAGE, { bearer })).body.data).toHaveLength(1);
    expect((await read(plaza, "5301")).title).toBe("Opening");
  });

  test("D-51: end_live_video is accepted only while live; the video becomes a VOD", async () => {
    const plaza = await open();
    expect(refusal(await update(plaza, "5301", { end_live_video: true }))).toEqual([400, 100, "end_live_video"]);
    expect((await update(plaza, "5301", { end_live_video: false })).status).toBe(200);
    expect(refusal(await update(plaza, "5301", { end_live_video: "yes" }))).toEqual([400, 100, "end_live_video"]);
    await update(plaza, "5301", { status: "LIVE_NOW" });
    expect(refusal(await update(plaza, "5301", { end_live_video: true, regenerate_stream_key: true }))).toEqual([400, 100, "regenerate_stream_key"]);
    expect((await update(plaza, "5301", { end_live_video: true })).body).toEqual({ id: "5301", success: true });
    expect((await read(plaza, "5301", "status")).status).toBe("LIVE_STOPPED");
    await plaza.world.work.runDue();
    expect((await read(plaza, "5301", "status")).status).toBe("VOD");
    expect(refusal(await update(plaza, "5301", { end_live_video: true }))).toEqual([400, 100, "end_live_video"]);
  });

  test("D-33: with fields, create and update return the node, including the new key", async () => {
    const plaza = await open();
    const { body } = await plaza.post(ON_PAGE, { bearer, query: { fields: "status,stream_url" }, body: { status: "LIVE_NOW" } });
    expect({ status: body.status, stream_url: body.stream_url }).toEqual({ status: "LIVE", stream_url: expect.stringMatching(/^rtmp:/) });
    const renewed = await plaza.post(`/v26.0/${body.id}`, { bearer, query: { fields: "stream_key" }, body: { regenerate_stream_key: true } });
    expect(body.stream_url).not.toContain(renewed.body.stream_key);
    const plain = await plaza.post(`/v26.0/${body.id}`, { bearer, query: { fields: "stream_key,title" }, body: { title: "New" } });
    expect(plain.body).toEqual({ id: body.id, title: "New" });
  });

  test("LIVE-13, LIVE-14: a deleted video cannot be found anywhere", async () => {
    const plaza = await open();
    await update(plaza, "5301", { status: "LIVE_NOW", place: "9901" });
    await plaza.post("/v26.0/5301/comments", { bearer, body: { message: "hi" } });
    expect((await plaza.delete("/v26.0/5301", { bearer })).body).toEqual({ success: true });
    plaza.time.realMs += 10_000;
    for (const path of ["/v26.0/5301", "/v26.0/5301/comments"]) expect((await plaza.get(path, { bearer })).body.error.error_subcode).toBe(33);
    for (const path of [ON_PAGE, "/v26.0/live_map"]) expect((await plaza.get(path, { bearer })).body.data).toEqual([]);
    expect((await plaza.delete("/v26.0/5301", { bearer })).body.error.error_subcode).toBe(33);
    expect((await update(plaza, "5301", { status: "LIVE_NOW" })).body.error.error_subcode).toBe(33);
  });

  test("D-30, D-96: a page's videos are listed newest first, each once", async () => {
    const plaza = await open();
    const made = ["5301"];
    for (let i = 0; i < 6; i++) made.unshift(await create(plaza));
    const seen: string[] = [];
    let link: { path: string; query: Record<string, string> } | undefined = { path: ON_PAGE, query: { limit: "3" } };
    while (link !== undefined) {
      const { body }: Awaited<ReturnType<TestPlaza["get"]>> = await plaza.get(link.path, { bearer, query: link.query });
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      link = body.paging.next === undefined ? undefined : requestOfLink(body.paging.next);
    }
    expect(seen).toEqual(made);
  });

  test("D-113: any storable title is returned as it was sent; longer ones are refused", async () => {
    const plaza = await open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (title) => {
        fc.pre(isStorableText(title) && codePointCount(title) <= 255);
        expect((await update(plaza, "5301", { title })).status).toBe(200);
        expect((await read(plaza, "5301", "title")).title).toBe(title);
      }),
      { numRuns: 30 },
    );
    expect(refusal(await update(plaza, "5301", { title: "😀".repeat(256) }))).toEqual([400, 100, "title"]);
  });
});
