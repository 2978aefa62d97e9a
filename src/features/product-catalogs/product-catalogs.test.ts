import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestRequest } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const scopes = ["catalog_management", "pages_manage_metadata"];
const MANAGE = "240588526848665";
const ADVERTISE = "2015469438531460";

const world = {
  ...cafe,
  apps: [...cafe.apps, { id: "1003", name: "Draft", secret: "d", mode: "development", created_time: 1780000000 }],
  users: [...cafe.users, { id: "3004" }, { id: "3005" }],
  businesses: [
    { id: "3501", name: "Owner", people: [{ user: "3001" }, { user: "3004" }] },
    { id: "3502", name: "Agency", people: [{ user: "3005" }] },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "maker", type: "user", app: "1001", user: "3001", scopes },
    { token: "maker-of-other-app", type: "user", app: "1002", user: "3001", scopes },
    { token: "maker-in-development", type: "user", app: "1003", user: "3001", scopes },
    { token: "one-scope", type: "user", app: "1001", user: "3001", scopes: scopes.slice(0, 1) },
    { token: "no-task", type: "user", app: "1001", user: "3002", scopes },
    { token: "stranger", type: "user", app: "1001", user: "3003", scopes },
    { token: "machine", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "page-with-scopes", type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: "expired-maker", type: "user", app: "1001", user: "3001", scopes, expires_at: 1790000000 },
    { token: "feed-reader-of-owner", type: "user", app: "1001", user: "3004", scopes: ["catalog_management"] },
    { token: "feed-reader-of-agency", type: "user", app: "1001", user: "3005", scopes: ["catalog_management"] },
  ],
};

const EDGE = "/v25.0/2001/owned_product_catalogs";
const create = (plaza: TestPlaza, body: Record<string, unknown>, request: TestRequest = {}, path = EDGE) =>
  plaza.post(path, { surface: "ads", bearer: "maker", body, ...request });

const sectionOf = (plaza: TestPlaza, key: string) => {
  const section = plaza.registry.features.flatMap((feature) => feature.worldSections ?? []).find((one) => one.key === key);
  if (section === undefined) throw new Error(`no section ${key}`);
  return section;
};
// biome-ignore lint/suspicious/noExplicitAny: entries have any keys.
const entryOf = async (plaza: TestPlaza, id: string, key = "catalogs"): Promise<any> =>
  sectionOf(plaza, key).find(plaza.world.database.reader, id, plaza.world);
const countCatalogs = async (plaza: TestPlaza) =>
  (await sectionOf(plaza, "catalogs").list(plaza.world.database.reader, { limit: 100 }, plaza.world)).rows.length;

/** Adds a feed to a catalog. Returns a function that reads the feed with a token and returns the status. */
async function addFeed(plaza: TestPlaza, catalog: string): Promise<(token: string) => Promise<number>> {
  const id = plaza.world.ids.mint();
  const entry = { id, catalog, name: "", items: [] };
  await plaza.world.database.write((tx) => sectionOf(plaza, "product_feeds").insert(tx, entry, plaza.world));
  return async (token) => (await plaza.get(`/v25.0/${id}/articles_and_publications`, { bearer: token })).status;
}

onEachDatabase("product catalogs", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("G1: a catalog is created for a page, under both addresses, with and without a version", async () => {
    const plaza = await open();
    for (const path of [EDGE, "/v25.0/pages/2001/owned_product_catalogs", "/2001/owned_product_catalogs", "/pages/2001/owned_product_catalogs"]) {
      const { status, body, headers } = await create(plaza, { name: " Books " }, {}, path);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(["id"]);
      expect(headers["pf-api-version"]).toBe("v25.0");
      expect(await entryOf(plaza, body.id)).toEqual({ id: body.id, page: "2001", name: "Books", vertical: "commerce", agencies: [] });
    }
  });

  test("D-124: an app's use of marketing begins with its first permitted request, not with a refused one", async () => {
    const plaza = await open({ world: { ...world, clock: { now: 1_795_000_000, frozen: true } } });
    const firstUse = async () => (await entryOf(plaza, "1001", "apps")).marketing_first_used_time;
    for (const bearer of ["one-scope", "no-task", "stranger", "machine", "expired-maker"])
      expect((await create(plaza, { name: "Books" }, { bearer })).status).toBeGreaterThanOrEqual(400);
    expect(await firstUse()).toBe(0);
    expect((await create(plaza, { name: "Books" })).status).toBe(200);
    expect(await firstUse()).toBe(1_795_000_000);
  });

  test("G1, D-03: v26.0 is not a marketing version yet, and other surfaces do not have the edge", async () => {
    const plaza = await open();
    const { status, body } = await create(plaza, { name: "Books" }, {}, "/v26.0/2001/owned_product_catalogs");
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 2635 } } });
    const elsewhere = await plaza.post(EDGE, { bearer: "maker", body: { name: "Books" } });
    expect(elsewhere).toMatchObject({ status: 400, body: { error: { code: 100, error_subcode: 33 } } });
    expect(await countCatalogs(plaza)).toBe(0);
  });

  test("ERR-32: other verticals than commerce and invalid names are refused", async () => {
    const plaza = await open();
    expect((await create(plaza, { name: "😀".repeat(200), vertical: "commerce" })).status).toBe(200);
    for (const [body, parameter] of [
      [{ name: "Books", vertical: "hotels" }, "vertical"],
      [{ name: "Books", vertical: "" }, "vertical"],
      [{ name: "Books", vertical: "Commerce" }, "vertical"],
      [{}, "name"],
      [{ name: "  " }, "name"],
      [{ name: "x".repeat(201) }, "name"],
      [{ name: "😀".repeat(201) }, "name"],
      [{ name: ["x"] }, "name"],
      [{ name: "x", business_metadata: "y" }, "business_metadata"],
      [{ name: "x", business_metadata: { external_business_id: "x".repeat(256) } }, "business_metadata.external_business_id"],
    ] as const) {
      const response = await create(plaza, body);
      expect({ status: response.status, code: response.body.error.code, error_data: response.body.error.error_data }).toEqual({
        status: 400,
        code: 100,
        error_data: { parameter },
      });
    }
    expect(await countCatalogs(plaza)).toBe(1);
  });

  test("G1-13, G1-15: a business is linked, optionally with the partner's id for it", async () => {
    const plaza = await open();
    const { body } = await create(plaza, { name: "Books", business_id: 3501, business_metadata: { external_business_id: "ext-1" } });
    expect(await entryOf(plaza, body.id)).toMatchObject({ business: "3501", external_business_id: "ext-1", agencies: [] });
  });

  test("D-56: a business for which the caller does not work is refused like a missing one", async () => {
    const plaza = await openPlaza({ database, world });
    const [foreign, missing] = [await create(plaza, { name: "B", business_id: "3502" }), await create(plaza, { name: "B", business_id: "999" })];
    expect(foreign).toMatchObject({ status: 400, body: { error: { code: 100 } } });
    expect(foreign.body.error.message).toBe(missing.body.error.message);
    expect((await create(plaza, { name: "B", business_id: "3501" })).status).toBe(200);
  });

  test("ERR-33, D-56: an agency needs both its id and at least one of the two tasks, and businesses exist", async () => {
    const plaza = await open();
    const agency = { business_id: "3502", permitted_tasks: [MANAGE] };
    const at = "business_metadata.agency";
    for (const [given, parameter] of [
      [{ business_id: "3599" }, "business_id"],
      [{ business_id: "2001" }, "business_id"],
      [{ business_id: "x" }, "business_id"],
      [{ business_metadata: { agency: {} } }, `${at}.business_id`],
      [{ business_metadata: { agency: { business_id: "3502" } } }, `${at}.permitted_tasks`],
      [{ business_metadata: { agency: { permitted_tasks: [MANAGE] } } }, `${at}.business_id`],
      [{ business_metadata: { agency: { ...agency, permitted_tasks: [] } } }, `${at}.permitted_tasks`],
      [{ business_metadata: { agency: { ...agency, permitted_tasks: [MANAGE, "1"] } } }, `${at}.permitted_tasks[1]`],
      [{ business_metadata: { agency: { ...agency, business_id: "3599" } } }, `${at}.business_id`],
      [{ business_metadata: { agency: "3502" } }, at],
    ] as const) {
      const response = await create(plaza, { name: "Books", ...given });
      expect({ status: response.status, code: response.body.error.code, error_data: response.body.error.error_data }).toEqual({
        status: 400,
        code: 100,
        error_data: { parameter },
      });
    }
    expect(await countCatalogs(plaza)).toBe(0);
  });

  test("G1-22: with business and agency the catalog is shared, and the agency may access it", async () => {
    const plaza = await open();
    const agency = { business_id: "3502", permitted_tasks: [ADVERTISE, MANAGE, ADVERTISE] };
    const { body } = await create(plaza, { name: "Books", business_id: "3501", business_metadata: { agency } });
    expect((await entryOf(plaza, body.id)).agencies).toEqual([{ business: "3502", permitted_tasks: [ADVERTISE, MANAGE] }]);
    const read = await addFeed(plaza, body.id);
    expect(await read("feed-reader-of-owner")).toBe(200);
    expect(await read("feed-reader-of-agency")).toBe(200);
    expect(await read("stranger")).toBe(400);

    // G1-12: a catalog without a business belongs only to the page, even if the request has an agency.
    const alone = (await create(plaza, { name: "Books", business_metadata: { agency } })).body.id;
    expect(await entryOf(plaza, alone)).toMatchObject({ agencies: [] });
    const readAlone = await addFeed(plaza, alone);
    expect(await readAlone("feed-reader-of-agency")).toBe(400);
    expect(await readAlone("maker")).toBe(200);
  });

  test("D-13: leaving the business or losing the share ends the access to the catalog", async () => {
    const plaza = await open();
    const agency = { business_id: "3502", permitted_tasks: [MANAGE] };
    const catalog = (await create(plaza, { name: "Books", business_id: "3501", business_metadata: { agency } })).body.id;
    const read = await addFeed(plaza, catalog);
    for (const reader of ["feed-reader-of-owner", "feed-reader-of-agency"])
      expect({ reader, status: await read(reader) }).toEqual({ reader, status: 200 });
    await plaza.world.database.write((tx) => sectionOf(plaza, "businesses").replace(tx, { id: "3501", name: "Owner", people: [] }, plaza.world));
    const entry = await entryOf(plaza, catalog);
    await plaza.world.database.write((tx) => sectionOf(plaza, "catalogs").replace(tx, { ...entry, agencies: [] }, plaza.world));
    for (const reader of ["feed-reader-of-owner", "feed-reader-of-agency"])
      expect({ reader, status: await read(reader) }).toEqual({ reader, status: 400 });
    expect(await read("maker")).toBe(200);
    expect(await plaza.world.database.write((tx) => sectionOf(plaza, "catalogs").remove(tx, catalog, plaza.world))).toBe(true);
    expect(await read("maker")).toBe(400);
  });

  test("AUTH-17, AUTH-18, D-13: only permitted tokens create a catalog; a refused request creates none", async () => {
    const plaza = await open();
    const as = async (request: TestRequest, path = EDGE) => {
      const { status, body } = await create(plaza, { name: "Books" }, request, path);
      return [status, body.error?.code, body.error?.error_subcode];
    };
    expect(await as({ bearer: "one-scope" })).toEqual([403, 10, undefined]);
    expect(await as({ bearer: "no-task" })).toEqual([403, 200, undefined]);
    expect(await as({ bearer: "stranger" })).toEqual([400, 100, 33]);
    expect(await as({ bearer: "maker" }, "/v25.0/2002/owned_product_catalogs")).toEqual([400, 100, 33]);
    expect(await as({ bearer: "machine" })).toEqual([401, 190, undefined]);
    expect(await as({ bearer: "page-with-scopes" })).toEqual([401, 190, undefined]);
    expect(await as({ bearer: "app" })).toEqual([400, 100, 33]);
    expect(await as({ bearer: "expired-maker" })).toEqual([401, 190, 463]);
    expect(await as({ bearer: "nobody" })).toEqual([401, 190, undefined]);
    const revoked = await plaza.mint({ type: "user", app: plaza.world.ids.mint(), revoked_at: 5 });
    expect(await as({ bearer: revoked })).toEqual([401, 190, 466]);
    const none = await plaza.post(EDGE, { surface: "ads", body: { name: "Books" } });
    expect(none).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    expect(none.headers["www-authenticate"]).toBeString();
    const byQuery = (access_token: string) => plaza.post(EDGE, { surface: "ads", query: { access_token }, body: { name: "Books" } });
    expect((await byQuery("maker")).body.error.code).toBe(104);
    expect(await countCatalogs(plaza)).toBe(0);
    expect((await byQuery("maker-in-development")).status).toBe(200);
    // A person who has access to a catalog also has access with a token of another app, because apps do not own catalogs.
    expect((await create(plaza, { name: "Books" }, { bearer: "maker-of-other-app" })).status).toBe(200);
  });

  test("AUTH-17, AUTH-18, D-12: the header is accepted in both modes, the parameter in development; clients accepts both", async () => {
    const live = "maker";
    const draft = "maker-in-development";
    const dead = "nobody";
    const codeOf = async (plaza: TestPlaza, bearer: string | undefined, access_token: string | undefined): Promise<number> => {
      const query = access_token === undefined ? {} : { access_token };
      const { status, body } = await plaza.post(EDGE, {
        surface: "ads",
        ...(bearer === undefined ? {} : { bearer }),
        query,
        body: { name: "Books" },
      });
      return status === 200 ? 200 : body.error.code;
    };
    const strict = await open();
    const clients = await open({ profile: "clients" });
    for (const [bearer, access_token, inStrict, inClients] of [
      [live, undefined, 200, 200],
      [draft, undefined, 200, 200],
      [undefined, live, 104, 200],
      [undefined, draft, 200, 200],
      [undefined, undefined, 104, 104],
      [live, live, 200, 200],
      [draft, draft, 200, 200],
      // Plaza reads a token only from the parameters and headers in which a token may be.
      [live, dead, 200, 190],
      [dead, live, 190, 200],
      // If a request has a token both in a parameter and in a header, the two tokens must be equal.
      [draft, dead, 100, 190],
      [dead, draft, 100, 200],
    ] as const) {
      expect({ bearer, access_token, code: await codeOf(strict, bearer, access_token) }).toEqual({ bearer, access_token, code: inStrict });
      expect({ bearer, access_token, code: await codeOf(clients, bearer, access_token) }).toEqual({ bearer, access_token, code: inClients });
    }
  });

  test("G1: the host that creates catalogs serves nothing else of the interface", async () => {
    const plaza = await open();
    const { id } = (await create(plaza, { name: "Books" })).body;
    for (const [method, path, status, code] of [
      ["GET", EDGE, 400, 100],
      ["DELETE", EDGE, 400, 100],
      ["DELETE", `/v25.0/${id}`, 400, 100],
      ["GET", `/v25.0/${id}`, 400, 100],
    ] as const) {
      const response = await plaza.request(method, path, { surface: "ads", bearer: "maker" });
      expect({ method, path, status: response.status, code: response.body.error.code }).toEqual({ method, path, status, code });
    }
  });

  test("a catalog and a business's people are exported to a world file and loaded again", async () => {
    const catalogs = [
      { id: "8001", page: "2001", name: "Books", vertical: "commerce", agencies: [] },
      {
        id: "8002",
        page: "2001",
        name: "More",
        vertical: "commerce",
        business: "3501",
        external_business_id: "e",
        agencies: [{ business: "3502", permitted_tasks: [MANAGE] }],
      },
    ];
    const plaza = await open({ world: { ...world, catalogs } });
    const listed = await sectionOf(plaza, "catalogs").list(plaza.world.database.reader, { limit: 10 }, plaza.world);
    expect(listed.rows as unknown[]).toEqual(catalogs);
    expect(await entryOf(plaza, "3501", "businesses")).toEqual(world.businesses[0]);
    const wrong = {
      "catalogs[0].page refers to 2099, which does not exist": { catalogs: [{ id: "8001", page: "2099" }] },
      "catalogs[0].vertical must be commerce": { catalogs: [{ id: "8001", page: "2001", vertical: "hotels" }] },
      "catalogs[0].business refers to 2001, which is a page": { catalogs: [{ id: "8001", page: "2001", business: "2001" }] },
      "catalogs[0].agencies[0].permitted_tasks must not be empty": {
        catalogs: [{ id: "8001", page: "2001", agencies: [{ business: "3502", permitted_tasks: [] }] }],
      },
      "businesses[0].people[0].user refers to 2001, which is a page": { businesses: [{ id: "3503", people: [{ user: "2001" }] }] },
    };
    for (const [problem, part] of Object.entries(wrong)) await expect(open({ world: { ...world, ...part } })).rejects.toThrow(problem);
  });
});
