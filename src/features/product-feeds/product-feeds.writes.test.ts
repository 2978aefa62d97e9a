import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["catalog_management"];
const person = (id: string) => ({ id, name: `Person ${id}` });
const world = {
  ...cafe,
  users: [...cafe.users, ...["3901", "3902", "3903", "3904", "3905"].map(person)],
  businesses: [
    { id: "3501", name: "Owner", people: [{ user: "3903" }] },
    { id: "3502", name: "Manager", people: [{ user: "3904" }] },
    { id: "3503", name: "Advertiser", people: [{ user: "3905" }] },
  ],
  pages: [
    ...cafe.pages.filter(({ id }) => id !== "2001"),
    {
      ...{ id: "2001", name: "Cafe" },
      roles: [
        { user: "3001", tasks: ["MANAGE"] },
        { user: "3901", tasks: ["CREATE_CONTENT"] },
        { user: "3902", tasks: ["ADVERTISE"] },
      ],
    },
  ],
  labels: [],
  personas: [],
  catalogs: [
    {
      ...{ id: "8001", page: "2001", name: "Books", business: "3501" },
      agencies: [
        { business: "3502", permitted_tasks: ["240588526848665"] },
        { business: "3503", permitted_tasks: ["2015469438531460"] },
      ],
    },
  ],
  product_feeds: [{ id: "8101", catalog: "8001", name: "books" }],
};

onEachDatabase("D-146: catalogs and feeds are changed through the graph", (database) => {
  const open = async () => {
    const plaza = await openPlaza({ database, world });
    const mint = (user: string, more: readonly string[] = scopes) =>
      plaza.mint({ type: "user", app: nodeId("1001"), user: nodeId(user), scopes: [...more] });
    return { plaza, mint, owner: await mint("3001") };
  };

  test("a feed is created, read back, renamed and deleted", async () => {
    const { plaza, owner } = await open();
    const created = await plaza.post("/v25.0/8001/product_feeds", {
      bearer: owner,
      body: { name: " New " },
      query: { fields: "name,product_count" },
    });
    const { id } = created.body;
    expect(created.body).toEqual({ id: expect.stringMatching(/^\d+$/), name: "New", product_count: 0 });
    expect((await plaza.get("/v25.0/8001/product_feeds", { bearer: owner })).body.data).toContainEqual({ id, name: "New" });
    expect((await plaza.post(`/v25.0/${id}`, { bearer: owner, body: { name: "Newer" } })).body).toEqual({ success: true });
    expect((await plaza.get(`/v25.0/${id}`, { query: { access_token: owner } })).body).toEqual({ id, name: "Newer" });
    expect((await plaza.delete(`/v25.0/${id}`, { bearer: owner })).body).toEqual({ success: true });
    expect((await plaza.get(`/v25.0/${id}`, { query: { access_token: owner } })).body.error.error_subcode).toBe(33);
    for (const [path, body] of [
      ["8001/product_feeds", {}],
      ["8001/product_feeds", { name: "  " }],
      ["8001/product_feeds", { name: "x".repeat(201) }],
      ["8101", { name: "" }],
    ] as const)
      expect((await plaza.post(`/v25.0/${path}`, { bearer: owner, body })).body.error).toMatchObject({
        code: 100,
        error_data: { parameter: "name" },
      });
  });

  test("a catalog is deleted with its feeds", async () => {
    const { plaza, owner } = await open();
    expect((await plaza.delete("/v25.0/8001", { bearer: owner })).body).toEqual({ success: true });
    await plaza.world.work.runDue();
    for (const id of ["8001", "8101"])
      expect((await plaza.get(`/v25.0/${id}`, { query: { access_token: owner } })).body.error.error_subcode).toBe(33);
    for (const column of ["product_catalogs.id", "product_catalog_agencies.catalog", "product_feeds.id", "jobs.key"])
      expect(await plaza.dump([column])).toEqual([]);
  });

  test("the roles that may fill a catalog, and those that may delete it", async () => {
    const { plaza, mint } = await open();
    const allowed = (token: string) =>
      Promise.all(
        [plaza.post("/v25.0/8001/product_feeds", { bearer: token, body: { name: "x" } }), plaza.post("/v25.0/8101", { bearer: token, body: {} })].map(
          async (request) => (await request).body.error?.code ?? "allowed",
        ),
      );
    for (const user of ["3001", "3901", "3903", "3904"])
      expect({ user, may: await allowed(await mint(user)) }).toEqual({ user, may: ["allowed", "allowed"] });
    for (const user of ["3902", "3905"]) expect({ user, may: await allowed(await mint(user)) }).toEqual({ user, may: [200, 200] });
    expect(await allowed(await mint("3001", []))).toEqual([10, 10]);
    expect(await allowed(await mint("3003"))).toEqual([100, 100]);
    const deleted = async (user: string) => (await plaza.delete("/v25.0/8001", { bearer: await mint(user) })).body;
    for (const user of ["3901", "3902", "3904", "3905"]) expect((await deleted(user)).error.code).toBe(200);
    expect((await deleted("3003")).error.error_subcode).toBe(33);
    expect(await deleted("3903")).toEqual({ success: true });
  });
});
