import { expect, test } from "bun:test";
import fc from "fast-check";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const MANAGE = "240588526848665";
const ADVERTISE = "2015469438531460";

const agencies = fc.uniqueArray(fc.record({ business: fc.nat(2), task: fc.constantFrom(MANAGE, ADVERTISE) }), {
  selector: ({ business }) => business,
  maxLength: 2,
});

/** Draws a random world: which people work for which business, which tasks people have on pages, and who owns the catalogs. */
const drawn = fc.record({
  tasks: fc.array(fc.tuple(fc.nat(3), fc.nat(1), fc.subarray(["MANAGE", "ADVERTISE", "CREATE_CONTENT", "MODERATE", "MESSAGING", "ANALYZE"])), {
    maxLength: 6,
  }),
  people: fc.array(fc.tuple(fc.nat(2), fc.nat(3)), { maxLength: 6 }),
  catalogs: fc.array(fc.record({ page: fc.nat(1), business: fc.option(fc.nat(2)), agencies }), { minLength: 1, maxLength: 4 }),
});

const allowed = { status: 200, code: undefined };
/** The error for a caller without a right: only a caller who can see the catalog learns that the right is missing. */
const refused = (isSeen: boolean) => (isSeen ? { status: 403, code: 200 } : { status: 400, code: 100 });

test("D-13: in random worlds, exactly the tokens with access to a catalog can read, fill and delete it; for others it does not exist", async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async ({ tasks, people, catalogs }) => {
      const user = (at: number) => `300${at}`;
      const roles = new Map(tasks.map(([who, page, list]) => [`${page} ${who}`, list]));
      const plaza = await openPlaza({
        world: {
          apps: cafe.apps,
          users: [0, 1, 2, 3].map((at) => ({ id: user(at) })),
          pages: [0, 1].map((page) => ({
            id: `200${page}`,
            roles: [...roles].filter(([key]) => key.startsWith(`${page} `)).map(([key, list]) => ({ user: user(Number(key.slice(2))), tasks: list })),
          })),
          businesses: [0, 1, 2].map((at) => ({
            id: `350${at}`,
            people: [...new Set(people.filter(([business]) => business === at).map(([, who]) => who))].map((who) => ({ user: user(who) })),
          })),
          catalogs: catalogs.map(({ page, business, agencies }, at) => ({
            id: `80${at}0`,
            page: `200${page}`,
            ...(business === null ? {} : { business: `350${business}` }),
            agencies: agencies.map((one) => ({ business: `350${one.business}`, permitted_tasks: [one.task] })),
          })),
          product_feeds: catalogs.map((_, at) => ({ id: `80${at}1`, catalog: `80${at}0` })),
          tokens: [0, 1, 2, 3].map((at) => ({ token: `user${at}`, type: "user", app: "1001", user: user(at), scopes: ["catalog_management"] })),
        },
      });
      const unknown = await plaza.get("/v25.0/80991/articles_and_publications", { bearer: "user0" });
      const deleters: Record<number, number> = {};
      for (const [at, { page, business, agencies }] of catalogs.entries()) {
        for (const who of [0, 1, 2, 3]) {
          const hasTask = (...any: string[]) => roles.get(`${page} ${who}`)?.some((task) => any.includes(task)) === true;
          const worksFor = (...any: (number | null)[]) => people.some(([where, one]) => one === who && any.includes(where));
          const has = hasTask("MANAGE", "ADVERTISE", "CREATE_CONTENT") || worksFor(business, ...agencies.map((one) => one.business));
          const response = await plaza.get(`/v25.0/80${at}1/articles_and_publications`, { bearer: `user${who}` });
          expect(response.status).toBe(has ? 200 : 400);
          const hidden = ({ error }: { error: Record<string, unknown> }) => ({ ...error, pftrace_id: "" });
          // D-146: some callers may change the feeds of the catalog, and fewer may delete the catalog.
          const managing = agencies.filter(({ task }) => task === MANAGE).map((one) => one.business);
          const mayFill = hasTask("MANAGE", "CREATE_CONTENT") || worksFor(business, ...managing);
          const renamed = await plaza.post(`/v25.0/80${at}1`, { bearer: `user${who}`, body: { name: "renamed" } });
          expect({ who, at, status: renamed.status, code: renamed.body.error?.code }).toEqual({ who, at, ...(mayFill ? allowed : refused(has)) });
          if (!(hasTask("MANAGE") || worksFor(business))) {
            const deleted = await plaza.delete(`/v25.0/80${at}0`, { bearer: `user${who}` });
            expect({ who, at, status: deleted.status, code: deleted.body.error?.code }).toEqual({ who, at, ...refused(has) });
          } else deleters[at] = who;
          if (!has) expect(JSON.stringify(hidden(response.body))).toBe(JSON.stringify(hidden(unknown.body)).replace("80991", `80${at}1`));
        }
      }
      for (const [at, who] of Object.entries(deleters))
        expect((await plaza.delete(`/v25.0/80${at}0`, { bearer: `user${who}` })).body).toEqual({ success: true });
      await plaza.close();
    }),
    { numRuns: 25 },
  );
});
