import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { transitionLiveVideo } from "./lifecycle/live-state.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const onCafe = { app: "1001", page: "2001", scopes };

const liveWorld = {
  ...cafe,
  pages: [
    ...cafe.pages.map((page) => (page.id === "2001" ? { ...page, roles: [...page.roles, { user: "3003", tasks: ["MODERATE"] }] } : page)),
    { id: "2003", name: "Club", roles: [{ user: "3001", tasks: ["CREATE_CONTENT"] }] },
    {
      ...{ id: "2004", name: "Pub" },
      roles: [
        { user: "3001", tasks: ["MANAGE", "MODERATE"] },
        { user: "3003", tasks: ["CREATE_CONTENT"] },
      ],
    },
  ],
  live_videos: [{ id: "5301", page: "2001", title: "Opening" }],
  tokens: [
    ...cafe.tokens,
    { token: "author", type: "page", ...onCafe, user: "3001" },
    { token: "lonely", type: "page", ...onCafe },
    { token: "ada-live", type: "user", app: "1001", user: "3001", scopes },
    { token: "bob-live", type: "user", app: "1001", user: "3002", scopes },
    { token: "cleo-live", type: "user", app: "1001", user: "3003", scopes },
    { token: "bar-live", type: "page", app: "1001", page: "2002", scopes },
    { token: "club-live", type: "page", app: "1001", page: "2003", scopes },
    { token: "one-scope", type: "page", ...onCafe, scopes: ["pages_manage_posts"] },
    { token: "past", type: "page", ...onCafe, expires_at: 1_700_000_000 },
    { token: "system", type: "system_user", app: "1001", user: "3001", scopes },
  ],
};

const bearer = "author";
const ON_PAGE = "/v26.0/2001/live_videos";

onEachDatabase("who may use live videos", (database) => {
  const open = () => openPlaza({ database, world: liveWorld });
  const read = async (plaza: TestPlaza, id: string, fields?: string) =>
    (await plaza.get(`/v26.0/${id}`, { bearer, query: fields === undefined ? {} : { fields } })).body;
  const refusal = ({ status, body }: Awaited<ReturnType<TestPlaza["post"]>>) => [status, body.error?.code, body.error?.error_data?.parameter];

  test("LIVE-25: a video is shared only with pages on which the person may create content", async () => {
    const plaza = await open();
    const share = (page_id: string, token = bearer, action?: string) =>
      plaza.post("/v26.0/5301", { bearer: token, body: { crossposting_actions: [{ page_id, ...(action === undefined ? {} : { action }) }] } });
    for (const page of ["2002", "2004", "2001", "9999", "x"])
      expect(refusal(await share(page))).toEqual([400, 100, "crossposting_actions[0].page_id"]);
    expect(refusal(await share("2003", "lonely"))).toEqual([400, 100, "crossposting_actions[0].page_id"]);
    expect((await share("2003")).status).toBe(200);
    expect((await read(plaza, "5301", "crossposted_pages")).crossposted_pages).toEqual({ data: [{ id: "2003" }] });
    const onClub = (await plaza.get("/v26.0/2003/live_videos", { bearer: "club-live", query: { fields: "title,page" } })).body.data;
    expect(onClub).toEqual([{ id: "5301", title: "Opening", page: { id: "2001", name: "Cafe" } }]);
    expect((await plaza.get("/v26.0/5301", { bearer: "club-live" })).status).toBe(200);
    for (const token of ["bar-live", "cleo-live"]) expect((await plaza.get("/v26.0/5301", { bearer: token })).status).toBeOneOf([400, 403]);
    // The page that shares the video may only read it.
    expect((await plaza.post("/v26.0/5301", { bearer: "club-live", body: { title: "x" } })).body.error.error_subcode).toBe(33);
    expect((await plaza.delete("/v26.0/5301", { bearer: "club-live" })).body.error.error_subcode).toBe(33);
    expect((await share("2003", bearer, "disable_crossposting")).status).toBe(200);
    expect((await plaza.get("/v26.0/5301", { bearer: "club-live" })).body.error.error_subcode).toBe(33);
    expect((await plaza.get("/v26.0/2003/live_videos", { bearer: "club-live" })).body.data).toEqual([]);
  });

  test("LIVE-25: a person with the task on a sharing page reads the video and changes nothing; without the task nobody reads it", async () => {
    const live_videos = [{ id: "5302", page: "2001", title: "Closing", crossposted_pages: ["2004"] }];
    const plaza = await openPlaza({ database, world: { ...liveWorld, live_videos } });
    // Cleo has the required task only on the page that shares the video; on the video's own page she has only a role.
    expect((await plaza.get("/v26.0/5302", { bearer: "cleo-live" })).body).toMatchObject({ id: "5302", title: "Closing" });
    for (const method of ["post", "delete"] as const)
      expect((await plaza[method]("/v26.0/5302", { bearer: "cleo-live", body: { title: "x" } })).body.error.code).toBe(200);
    expect((await plaza.get("/v26.0/5302", { bearer: "bob-live" })).body.error.code).toBe(200);
    await transitionLiveVideo(plaza.world, nodeId("5302"), "published");
    await transitionLiveVideo(plaza.world, nodeId("5302"), "taken_down");
    expect((await plaza.get("/v26.0/5302", { bearer: "cleo-live" })).body.error.code).toBe(200);
    expect(await read(plaza, "5302", "title")).toEqual({ id: "5302", title: "Closing" });
  });

  test("D-110: a video that was taken down is shown only to its own page", async () => {
    const plaza = await open();
    await plaza.post("/v26.0/5301", { bearer, body: { status: "LIVE_NOW", crossposting_actions: [{ page_id: "2003" }] } });
    await transitionLiveVideo(plaza.world, nodeId("5301"), "taken_down");
    expect((await read(plaza, "5301", "status,crossposted_pages")).status).toBe("TAKEN_DOWN");
    const missing = await plaza.get("/v26.0/999999", { bearer: "club-live" });
    const hidden = await plaza.get("/v26.0/5301", { bearer: "club-live" });
    expect({ status: hidden.status, message: hidden.body.error.message }).toEqual({
      status: missing.status,
      message: missing.body.error.message.replace("999999", "5301"),
    });
    expect((await plaza.get("/v26.0/2003/live_videos", { bearer: "club-live" })).body.data).toEqual([]);
    expect((await plaza.get(ON_PAGE, { bearer })).body.data).toHaveLength(1);
    await transitionLiveVideo(plaza.world, nodeId("5301"), "restored");
    expect((await plaza.get("/v26.0/5301", { bearer: "club-live" })).body.status).toBe("VOD");
  });

  test("D-16, D-113, D-114: a page that shares a video lists every field of it; the live map shows all of its fields to other pages", async () => {
    const plaza = await open();
    const made = await plaza.post(ON_PAGE, {
      bearer,
      body: { title: "Here", description: "Now", status: "LIVE_NOW", place: "2002", embeddable: true, crossposting_actions: [{ page_id: "2003" }] },
    });
    plaza.time.realMs += 5_000;
    const shown = async (path: string, token: string, fields: string) => {
      const { body } = await plaza.get(path, { bearer: token, query: fields === "" ? {} : { fields } });
      return Object.keys(body.data.find(({ id }: { id: string }) => id === made.body.id)).join();
    };
    const names = "id,title,description,status,embeddable,embed_html,place,creation_time,broadcast_start_time,permalink_url,page,crossposted_pages";
    const onMap = "id,title,place,page,permalink_url,broadcast_start_time";
    expect(await shown("/v26.0/2003/live_videos", "club-live", names)).toBe(names);
    expect(await shown("/v26.0/live_map", "bar-live", onMap)).toBe(onMap);
    expect(await shown("/v26.0/live_map", "bar-live", "")).toBe("id,title,place,broadcast_start_time");
  });

  test("AUTH-7, D-13, D-14: the right tokens are accepted in any place; other tokens change nothing", async () => {
    const plaza = await open();
    const codes = async (token: string) => {
      const requests = [
        plaza.post(ON_PAGE, { bearer: token, body: { title: "never" } }),
        plaza.get(ON_PAGE, { bearer: token }),
        plaza.get("/v26.0/5301", { bearer: token }),
        plaza.post("/v26.0/5301", { bearer: token, body: { title: "never" } }),
        plaza.delete("/v26.0/5301", { bearer: token }),
        plaza.get("/v26.0/5301/comments", { bearer: token }),
        plaza.post("/v26.0/5301/comments", { bearer: token, body: { message: "never" } }),
        plaza.get("/v26.0/5301/reactions", { bearer: token }),
        plaza.post("/v26.0/5301/reactions", { bearer: token, body: { type: "LIKE" } }),
      ];
      const found = new Set<string>();
      for (const { status, body } of await Promise.all(requests)) found.add(`${status} ${body.error?.code} ${body.error?.error_subcode ?? ""}`);
      return [...found].join("; ");
    };
    expect(await codes("one-scope")).toBe("403 10 ");
    expect(await codes("no-scope")).toBe("403 10 ");
    expect(await codes("cleo-live")).toBe("403 200 ");
    expect(await codes("past")).toBe("401 190 463");
    expect(await codes("unheard-of")).toBe("401 190 ");
    expect(await codes("bar-live")).toBe("400 100 33");
    expect(await codes("app")).toBe("400 100 33");
    expect(await codes("system")).toBe("401 190 ; 400 100 33");
    expect(await plaza.get("/v26.0/5301")).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    expect((await read(plaza, "5301")).title).toBe("Opening");
    expect((await plaza.get(ON_PAGE, { bearer })).body.data).toHaveLength(1);
    for (const request of [{ bearer: "ada-live" }, { query: { access_token: "author" } }])
      expect((await plaza.get("/v26.0/5301", request)).status).toBe(200);
    expect((await plaza.post("/v26.0/5301", { body: { access_token: "ada-live", title: "Ada's" } })).status).toBe(200);
    const twice = await plaza.get("/v26.0/5301", { bearer: "ada-live", query: { access_token: "author" } });
    expect(twice).toMatchObject({ status: 400, body: { error: { code: 100 } } });
  });

  test("LIVE-25: a video is shared with at most fifty pages, and stays shared if the person may no longer create content", async () => {
    const ids = Array.from({ length: 51 }, (_, at) => String(2101 + at));
    const roles = [{ user: "3001", tasks: ["CREATE_CONTENT"] }];
    const live_videos = [...liveWorld.live_videos, { id: "5302", page: "2001", crossposted_pages: ["2002"] }];
    const pages = [...liveWorld.pages, ...ids.map((id) => ({ id, name: id, roles }))];
    const plaza = await openPlaza({ database, world: { ...liveWorld, pages, live_videos } });
    const share = (id: string, given: readonly string[], action = "enable_crossposting") =>
      plaza.post(`/v26.0/${id}`, { bearer, body: { title: "x", crossposting_actions: given.map((page_id) => ({ page_id, action })) } });
    const shared = async (id: string) =>
      ((await read(plaza, id, "crossposted_pages")).crossposted_pages?.data ?? []).map((page: { id: string }) => page.id);
    const refused = await share("5301", ids);
    expect(refusal(refused)).toEqual([400, 100, "crossposting_actions"]);
    expect(refused.body.error.message).toContain("at most 50 items");
    expect([await shared("5301"), (await read(plaza, "5301")).title]).toEqual([[], "Opening"]);
    expect((await share("5301", ids.slice(0, 50))).status).toBe(200);
    expect(await shared("5301")).toEqual(ids.slice(0, 50));
    expect((await share("5301", [ids[50] as string])).body.error.message).toContain("more than 50 pages");
    // A page that already shares the video counts only once towards the limit, and when a page stops sharing, another page may share the video.
    expect((await share("5301", ids.slice(0, 50))).status).toBe(200);
    expect((await share("5301", [ids[0] as string, "2003"], "disable_crossposting")).status).toBe(200);
    expect((await share("5301", [ids[50] as string])).status).toBe(200);
    expect(await shared("5301")).toEqual(ids.slice(1));
    // The callers may not create content on this page, but the world file says that the page shares the video.
    expect([(await share("5302", ["2002"])).status, await shared("5302")]).toEqual([200, ["2002"]]);
    expect((await share("5302", ["2002"], "disable_crossposting")).status).toBe(200);
    expect(refusal(await share("5302", ["2003", "2002"]))).toEqual([400, 100, "crossposting_actions[1].page_id"]);
    expect(await shared("5302")).toEqual([]);
  });

  test("D-51: ending a broadcast is a separate request, without another status or a new key", async () => {
    const plaza = await open();
    await plaza.post("/v26.0/5301", { bearer, body: { status: "LIVE_NOW" } });
    const end = (more: object) => plaza.post("/v26.0/5301", { bearer, body: { end_live_video: true, ...more } });
    expect(refusal(await end({ status: "LIVE_NOW" }))).toEqual([400, 100, "status"]);
    expect(refusal(await end({ regenerate_stream_key: true }))).toEqual([400, 100, "regenerate_stream_key"]);
    expect((await read(plaza, "5301")).status).toBe("LIVE");
    const { body } = await end({ regenerate_stream_key: false, title: "Over" });
    expect(body).toEqual({ id: "5301", success: true });
    expect(await read(plaza, "5301", "status,title")).toEqual({ id: "5301", status: "LIVE_STOPPED", title: "Over" });
  });
});
