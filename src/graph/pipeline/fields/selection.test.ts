/** D-38: selections inside the fields of all features. */
import { expect, spyOn, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOfLink, type TestPlaza } from "#harness/plaza";
import { READ_SCOPES as scopes } from "#harness/scopes";
import { cafe } from "#harness/worlds";

const numbered = <T>(count: number, one: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => one(index));
const hook = (name: string) => `https://example.com/${name}`;

const world = {
  ...cafe,
  pages: [{ ...cafe.pages[0], roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE", "MODERATE"] }] }, cafe.pages[1]],
  social_accounts: [
    { id: "6001", username: "cafe", page: "2001", user: "3001", app_connections: ["1001"] },
    ...numbered(5, (i) => ({ id: String(6002 + i), username: `fan ${i} 🎈`, page: "2002" })),
  ],
  media: [
    ...numbered(20, (i) => ({
      ...{ id: String(6150 - i), owner: String(6002 + (i % 5)), media_type: i % 2 === 0 ? "CAROUSEL_ALBUM" : "IMAGE", tagged: ["6001"] },
      ...{ timestamp: 1_794_000_000 - i, children: i % 2 === 0 ? [String(6200 + i), String(6300 + i)] : [] },
    })),
    ...numbered(20, (i) => ({
      id: String(6200 + i),
      owner: String(6002 + (i % 5)),
      media_type: "VIDEO",
      caption: `child ${i}`,
      timestamp: 1_793_000_000,
    })),
    ...numbered(20, (i) => ({ id: String(6300 + i), owner: String(6002 + (i % 5)), private: true, timestamp: 1_793_000_000 })),
  ].toReversed(),
  live_videos: [
    { id: "5301", page: "2001", status: "VOD", place: { location: { latitude: 1.5, longitude: 2 } }, targeting: { excluded_countries: ["DE"] } },
    { id: "5302", page: "2001", crossposted_pages: ["2002"] },
  ],
  live_comments: numbered(30, (i) => ({ id: String(5401 + i), live_video: "5301", from: i === 29 ? "2001" : "3002", message: `${i} ü` })),
  chatapp_accounts: [
    { id: "4001", name: "Cafe chat", subscribed_apps: [{ app: "1001", override_callback_uri: hook("account") }, { app: "1002" }] },
    { id: "4002", name: "Theirs", subscribed_apps: [{ app: "1002" }] },
  ],
  phone_numbers: numbered(20, (i) => ({
    ...{ id: String(4101 + i), account: "4001", display_phone_number: `+49 ${i}` },
    overrides:
      i === 3
        ? [
            { app: "1001", override_callback_uri: hook("phone") },
            { app: "1002", override_callback_uri: hook("other") },
          ]
        : [],
  })),
  migration_intents: [{ id: "4301", waba: "4001", destination_waba: "4002" }],
  tokens: [
    ...cafe.tokens,
    { token: "all", type: "user", app: "1001", user: "3001", scopes },
    { token: "author", type: "page", app: "1001", page: "2001", scopes },
    { token: "shown", type: "page", app: "1001", page: "2002", scopes },
  ],
};

onEachDatabase("selection inside fields", (database) => {
  const open = () => openPlaza({ database, world });
  const read = (plaza: TestPlaza, path: string, fields: string, more: Record<string, string> = {}, bearer = "all") =>
    plaza.get(path, { bearer, query: { access_token: bearer, fields, ...more } });
  const tags = (plaza: TestPlaza, fields: string, limit = "1") => read(plaza, "/v26.0/6001/tags", fields, { limit });

  test("E1: media inside an album and the owner of a medium show the selected fields, by default their id", async () => {
    const plaza = await open();
    const [album] = (await tags(plaza, "children{id,media_type,caption,owner{username}},owner{username}")).body.data;
    const owner = { username: "fan 0 🎈", id: "6002" };
    expect(album).toEqual({ id: "6150", owner, children: { data: [{ id: "6200", media_type: "VIDEO", caption: "child 0", owner }] } });
    const [plain] = (await tags(plaza, "children,owner")).body.data;
    expect(plain).toEqual({ id: "6150", owner: { id: "6002" }, children: { data: [{ id: "6200" }] } });
  });

  test("D-38: keys of objects without fields of their own are selected by name", async () => {
    const plaza = await open();
    const video = await read(plaza, "/v26.0/5301", "place{location{latitude}},targeting{excluded_countries}");
    expect(video.body).toEqual({ id: "5301", place: { location: { latitude: 1.5 } }, targeting: { excluded_countries: ["DE"] } });
    const pages = await read(plaza, "/v26.0/5302", "crossposted_pages{name},page{name}");
    expect(pages.body).toEqual({ id: "5302", crossposted_pages: { data: [{ id: "2002", name: "Bar" }] }, page: { id: "2001", name: "Cafe" } });
    const number = await read(plaza, "/v26.0/4104", "webhook_configuration{phone_number}");
    expect(number.body).toEqual({ id: "4104", webhook_configuration: { phone_number: hook("phone") } });
    const apps = await read(plaza, "/v26.0/4001/subscribed_apps", "chatapp_business_api_data{name}");
    expect(apps.body.data).toEqual([
      { chatapp_business_api_data: { name: "Other", id: "1002" } },
      { chatapp_business_api_data: { name: "Shop", id: "1001" } },
    ]);
  });

  test("D-38: the items of a list show the fields that other features add to their node type", async () => {
    const plaza = await open();
    const { data } = (await read(plaza, "/v26.0/4001/phone_numbers", "webhook_configuration{phone_number,chatapp_business_account}")).body;
    const account = { chatapp_business_account: hook("account") };
    expect(data).toHaveLength(20);
    for (const item of data) {
      const own = item.id === "4104" ? { phone_number: hook("phone") } : {};
      expect(item).toEqual({ id: item.id, webhook_configuration: { ...own, ...account } });
    }
  });

  test("D-38: a named node shows the fields that the caller may read, and otherwise its id", async () => {
    const plaza = await open();
    const { body } = await read(plaza, "/v24.0/4301", "waba{name,phone_numbers{webhook_configuration{phone_number}}},destination_waba{name}");
    expect(body).toMatchObject({ id: "4301", status: "INITIATED", waba: { id: "4001", name: "Cafe chat" }, destination_waba: { id: "4002" } });
    expect(body.destination_waba).toEqual({ id: "4002" });
    expect(body.waba.phone_numbers.data.find(({ id }: { id: string }) => id === "4104").webhook_configuration).toEqual({
      phone_number: hook("phone"),
    });
    expect((await read(plaza, "/v24.0/4301", "waba,destination_waba")).body).toMatchObject({
      waba: { id: "4001" },
      destination_waba: { id: "4002" },
    });
  });

  test("D-38: an edge of a node is its first page, and its links lead to the next ones", async () => {
    const plaza = await open();
    const { body } = await read(plaza, "/v26.0/5301", "comments{message,from{name}}");
    expect(body.comments.data).toHaveLength(25);
    expect(body.comments.data[0]).toEqual({ id: "5430", message: "29 ü", from: { id: "2001", name: "Cafe" } });
    const next = await plaza.get(requestOfLink(body.comments.paging.next).path, { query: requestOfLink(body.comments.paging.next).query });
    expect(next.body.data.map(({ id }: { id: string }) => id)).toEqual(["5405", "5404", "5403", "5402", "5401"]);
    expect(next.body.data[0]).toEqual({ id: "5405", message: "4 ü", from: { id: "3002" } });
    const whole = await read(plaza, "/v26.0/4001", "name,phone_numbers");
    expect(whole.body.phone_numbers.data[0]).toEqual({ id: "4120", display_phone_number: "+49 19", verified_name: "" });
  });

  test("D-38: an edge that the caller's own read would not find is omitted; any other error of that read fails the request", async () => {
    const plaza = await open();
    // LIVE-26: only the page where the video began has comments.
    expect((await read(plaza, "/v26.0/5302", "id,comments", {}, "shown")).body).toEqual({ id: "5302" });
    const alone = await read(plaza, "/v26.0/5302/comments", "id", {}, "shown");
    expect(alone).toMatchObject({ status: 400, body: { error: { code: 100, error_subcode: 33 } } });
    const app = await read(plaza, "/v26.0/1001", "subscriptions", {}, "app");
    expect(app.body).toEqual({ id: "1001", subscriptions: { data: [], paging: { cursors: {} } } });
    const needed = await read(plaza, "/v26.0/1001", "app_attribution", {}, "app");
    expect(needed).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter: "advertiser_id" } } } });
  });

  test("D-33, D-38: an unknown field is refused as in a read of its holder, at every depth, and modifiers are refused everywhere", async () => {
    const plaza = await open();
    const refused = async (path: string, fields: string, message: string, bearer = "all") =>
      expect(await read(plaza, path, fields, {}, bearer)).toMatchObject({
        status: 400,
        body: { error: { code: 100, message: expect.stringContaining(message), error_data: { parameter: "fields" } } },
      });
    const unknown = "names a field that does not exist: colour";
    for (const fields of ["children{colour}", "children{owner{colour}}", "owner{colour}"]) await refused("/v26.0/6001/tags", fields, unknown);
    for (const fields of ["place{colour}", "place{location{colour}}", "comments{colour}", "comments{from{colour}}", "crossposted_pages{colour}"]) {
      await refused("/v26.0/5301", fields, unknown);
    }
    for (const fields of ["destination_waba{colour}", "waba{phone_numbers{colour}}", "solution{colour}"])
      await refused("/v24.0/4301", fields, unknown);
    await refused("/v26.0/1001", "migrations{label_names_case_insensitive}", "selects fields of migrations", "app");
    await refused("/v26.0/6001/tags", "children{children}", "names a field that does not exist: children");
    await refused("/v26.0/2001/live_videos", "comments", "names a field that does not exist: comments");
    for (const modifier of [".limit(1)", ".after(x)", "(limit:1)"]) await refused("/v26.0/5301", `comments${modifier}{id}`, "unsupported");
  });

  test("D-38: depth and number of names are limited", async () => {
    const plaza = await open();
    const deep = (levels: number) => `${"page{".repeat(levels - 1)}id${"}".repeat(levels - 1)}`;
    expect((await read(plaza, "/v26.0/5301", deep(9))).body.error.message).toContain("nests deeper than 8 levels");
    expect((await read(plaza, "/v26.0/5301", deep(8))).body.error.message).toContain("names a field that does not exist: page");
    const wide = (names: number) => `comments{${numbered(names - 1, () => "id").join(",")}}`;
    expect((await read(plaza, "/v26.0/5301", wide(201))).body.error.message).toContain("names more than 200 fields");
    expect((await read(plaza, "/v26.0/5301", wide(200))).status).toBe(200);
    const twice = await read(plaza, "/v26.0/5301", "place{id},place{location{latitude}},place{location{longitude}}");
    expect(twice.body.place).toEqual({ location: { latitude: 1.5, longitude: 2 } });
  });

  test("D-33: a field that is named with and without braces has both selections", async () => {
    const plaza = await open();
    // The links of a list repeat the selection as the client sent it.
    const shown = async (path: string, fields: string) =>
      JSON.parse(JSON.stringify((await read(plaza, path, fields)).body, (key, value) => (key === "next" ? "…" : value)));
    const alike: [path: string, twice: string, once: string][] = [
      ["/v26.0/5301", "page,page{id}", "page"],
      ["/v26.0/5301", "page{id},page", "page"],
      ["/v26.0/5301", "page{id},page{name},page", "page"],
      ["/v26.0/5301", "place,place{location{latitude}}", "place"],
      ["/v26.0/5301", "place{location,location{latitude}}", "place{location}"],
      ["/v26.0/5301", "comments,comments{from{id}}", "comments{id,message,created_time,from}"],
      ["/v26.0/5301", "comments{id},comments", "comments"],
      ["/v26.0/5301", "comments{from,from{id}}", "comments{from}"],
      ["/v24.0/4301", "waba,waba{name}", "waba{name}"],
    ];
    for (const [path, twice, once] of alike) expect({ twice, body: await shown(path, twice) }).toEqual({ twice, body: await shown(path, once) });
    for (const [path, fields] of [
      ["/v26.0/5301", "page,page{colour}"],
      ["/v26.0/5301", "place,place{colour}"],
      ["/v26.0/5301", "comments,comments{colour}"],
    ] as const)
      expect((await read(plaza, path, fields)).body.error).toMatchObject({ code: 100, error_data: { field: "colour" } });
  });

  test("D-38: a list sends the database as many statements for twenty items as for two", async () => {
    const plaza = await open();
    const { reader } = plaza.world.database;
    const spies = [spyOn(reader, "all"), spyOn(reader, "get")];
    // The fewest reads in several tries count, because a late notification of PostgreSQL about the import may empty the caches once more.
    const asked = async (path: string, fields: string, limit: number) => {
      const counts: number[] = [];
      for (let i = 0; i < 5; i++) {
        for (const spy of spies) spy.mockClear();
        expect((await read(plaza, path, fields, { limit: String(limit) })).body.data).toHaveLength(limit);
        counts.push(spies.reduce((sum, spy) => sum + spy.mock.results.length, 0));
      }
      return Math.min(...counts);
    };
    for (const [path, fields] of [
      ["/v26.0/6001/tags", "username,owner{username},children{id,username,owner{username}}"],
      ["/v26.0/4001/phone_numbers", "webhook_configuration{phone_number}"],
      ["/v26.0/5301/comments", "from{name}"],
    ] as const) {
      expect({ path, asked: await asked(path, fields, 20) }).toEqual({ path, asked: await asked(path, fields, 2) });
    }
  });

  test("D-22, D-38: nested reads do not count as requests", async () => {
    const plaza = await openPlaza({ database, world, rateLimits: { app_calls_per_hour: 2, page_calls_per_hour: 0 } });
    const request = () => read(plaza, "/v26.0/5301", "comments{from{name}},reactions");
    expect([(await request()).status, (await request()).status, (await request()).status]).toEqual([200, 200, 429]);
  });

  test("D-33, D-38: fields inside fields also work for the response of a write, several nodes and the requests of a batch", async () => {
    const plaza = await open();
    const made = await plaza.post("/v26.0/5301", { bearer: "author", body: { title: "Ü", fields: "page{name},comments{message}" } });
    expect(made.body).toMatchObject({ id: "5301", page: { id: "2001", name: "Cafe" } });
    expect(made.body.comments.data).toHaveLength(25);
    // LIVE-26, D-16: the write succeeds, and a refused field is left out.
    const fields = "place{location{latitude}},page{name}";
    const several = await read(plaza, "/v26.0/", fields, { ids: "5301,5302" });
    expect(several.body).toEqual({
      5301: { id: "5301", page: { id: "2001", name: "Cafe" }, place: { location: { latitude: 1.5 } } },
      5302: { id: "5302", page: { id: "2001", name: "Cafe" } },
    });
    const batch = [{ method: "GET", relative_url: `v26.0/5301?fields=${fields}` }];
    const [one] = (await plaza.post("/", { bearer: "all", body: { batch } })).body;
    expect(JSON.parse(one.body)).toEqual(several.body["5301"]);
  });

  test("D-34: metadata=1 lists edges only among the connections", async () => {
    const plaza = await open();
    const { metadata } = (await read(plaza, "/v26.0/4001", "id", { metadata: "1" })).body;
    expect(metadata.fields.map(({ name }: { name: string }) => name)).toEqual(["id", "name"]);
    expect(Object.keys(metadata.connections)).toContain("phone_numbers");
  });
});
