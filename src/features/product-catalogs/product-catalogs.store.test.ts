/** Tests which catalogs and agencies a statement takes: each test also has rows of another page, business and catalog. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { CatalogTask } from "./product-catalogs.api.ts";
import { subscribersOfCatalog } from "./product-catalogs.handlers.ts";
import {
  type Catalog,
  deleteCatalog,
  findCatalog,
  forgetBusiness,
  insertCatalog,
  listAllCatalogs,
  listCatalogsOfPage,
  replaceCatalog,
} from "./product-catalogs.store.ts";

const MANAGE: CatalogTask = "240588526848665";
const ADVERTISE: CatalogTask = "2015469438531460";
const [owner, agency, third] = ["3501", "3502", "3503"].map(nodeId) as [NodeId, NodeId, NodeId];

const catalog = (id: string, more: Partial<Catalog> = {}): Catalog => ({
  ...{ id: nodeId(id), page: nodeId("2001"), name: `catalog ${id}`, business: owner, external_business_id: undefined },
  agencies: [
    { business: agency, permitted_tasks: [MANAGE] },
    { business: third, permitted_tasks: [ADVERTISE, MANAGE] },
  ],
  ...more,
});

onEachDatabase("stored catalogs", (database) => {
  const open = async (...catalogs: Catalog[]) => {
    const { world } = await openPlaza({ database, world: cafe });
    const write = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> => world.database.write(body);
    for (const one of catalogs) expect(await write((tx) => insertCatalog(tx, one))).toBe(true);
    return { world, write, reader: world.database.reader, all: async () => (await listAllCatalogs(world.database.reader, { limit: 50 })).rows };
  };

  test("a catalog has the last saved values, and only those agencies, in the order of their ids", async () => {
    const [one, other] = [catalog("8001", { agencies: catalog("8001").agencies.toReversed() }), catalog("8002", { external_business_id: "e" })];
    const { write, all, reader } = await open(one, other);
    expect(await all()).toEqual([catalog("8001"), other]);
    const changed = catalog("8001", { name: "new", page: nodeId("2002"), business: undefined, external_business_id: "x", agencies: [] });
    await write((tx) => replaceCatalog(tx, changed));
    expect(await all()).toEqual([changed, other]);
    expect(await findCatalog(reader, "8003")).toBeUndefined();
  });

  test("an agency that is named twice has the tasks named last", async () => {
    const shares = [MANAGE, ADVERTISE].map((task) => ({ business: agency, permitted_tasks: [task] }));
    const { all } = await open(catalog("8001", { agencies: shares }));
    expect((await all()).map(({ agencies }) => agencies)).toEqual([shares.slice(1)]);
  });

  test("a taken id is refused, and its catalog stays unchanged", async () => {
    const { write, all } = await open(catalog("8001"));
    expect(await write((tx) => insertCatalog(tx, catalog("8001", { name: "again", agencies: [] })))).toBe(false);
    expect(await all()).toEqual([catalog("8001")]);
  });

  test("a catalog is deleted once, with its own shares and its node", async () => {
    const { write, all } = await open(catalog("8001"), catalog("8002"));
    const remove = () => write((tx) => deleteCatalog(tx, nodeId("8001")));
    expect([await remove(), await remove()]).toEqual([true, false]);
    expect(await all()).toEqual([catalog("8002")]);
    // The id of the deleted catalog can be used for a new catalog, which has no agencies of the deleted catalog.
    expect(await write((tx) => insertCatalog(tx, catalog("8001", { agencies: [] })))).toBe(true);
    expect((await all())[0]).toEqual(catalog("8001", { agencies: [] }));
  });

  test("a deleted business loses its catalogs and shares, and no others", async () => {
    const elsewhere = catalog("8003", { business: third, agencies: [{ business: agency, permitted_tasks: [MANAGE] }] });
    const { write, all } = await open(catalog("8001"), catalog("8002", { business: agency }), elsewhere);
    await write((tx) => forgetBusiness(tx, owner));
    expect((await all()).map(({ business, agencies }) => [business, agencies.length])).toEqual([
      [undefined, 2],
      [agency, 2],
      [third, 1],
    ]);
    await write((tx) => forgetBusiness(tx, agency));
    expect((await all()).map(({ business, agencies }) => [business, agencies.map((share) => share.business)])).toEqual([
      [undefined, [third]],
      [undefined, [third]],
      [third, []],
    ]);
  });

  test("a page has its own catalogs, the oldest first", async () => {
    const { reader } = await open(catalog("8002"), catalog("8001"), catalog("8003", { page: nodeId("2002") }));
    expect(await Promise.all(["2001", "2002", "2003"].map((page) => listCatalogsOfPage(reader, nodeId(page))))).toEqual([
      ["8001", "8002"].map(nodeId),
      [nodeId("8003")],
      [],
    ]);
  });

  test("nobody gets webhooks of a deleted catalog", async () => {
    const { world, reader } = await open(catalog("8001"));
    const event = { object: "catalog", field: "product_feed", entity: nodeId("8009") } as const;
    expect(await subscribersOfCatalog(reader, world.ports, event as never)).toEqual([]);
  });
});

onEachDatabase("D-13: the cache of a catalog", (database) => {
  test("is invalidated when it, its business or an agency changes", async () => {
    const person = { id: "3901" };
    const plaza = await openPlaza({
      database,
      world: {
        ...cafe,
        users: [...cafe.users, person],
        businesses: [owner, agency].map((id) => ({ id, name: id, people: [{ user: person.id }] })),
        catalogs: [
          { id: "8001", page: "2001", name: "owned", business: owner },
          { id: "8002", page: "2001", name: "shared", agencies: [{ business: agency, permitted_tasks: [MANAGE] }] },
        ],
      },
    });
    const access_token = await plaza.mint({ type: "user", app: nodeId("1001"), user: nodeId(person.id), scopes: ["catalog_management"] });
    const statuses = async () => {
      const responses = ["8001", "8002"].map((id) => plaza.get(`/v25.0/${id}`, { query: { access_token } }));
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    const { database: store } = plaza.world;
    expect(await statuses()).toEqual([200, 200]);
    await store.write((tx) => forgetBusiness(tx, owner));
    expect(await statuses()).toEqual([400, 200]);
    await store.write((tx) => forgetBusiness(tx, agency));
    expect(await statuses()).toEqual([400, 400]);
    await store.write((tx) => replaceCatalog(tx, { ...catalog("8001"), agencies: [] }));
    expect(await statuses()).toEqual([200, 400]);
    await store.write((tx) => deleteCatalog(tx, nodeId("8001")));
    expect(await statuses()).toEqual([400, 400]);
  });
});
