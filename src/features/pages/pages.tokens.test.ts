import { expect, test } from "bun:test";
import { importWorld } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import type { TestPlaza } from "#harness/plaza";
import { changeEntry, expectRoundTrip } from "#harness/sections";
import { cafe } from "#harness/worlds";

const scopes = ["pages_messaging", "pages_manage_posts", "pages_read_engagement"];
const bobs = { type: "page", app: "1001", page: "2001", user: "3002", scopes };
const world = {
  ...cafe,
  apps: cafe.apps.map((app) => ({ ...app, roles: [{ microblog_user: "7001", role: "microblog_tester" }] })),
  microblog_users: [{ id: "7001" }],
  tokens: [
    ...cafe.tokens,
    { ...bobs, token: "bobs" },
    { ...bobs, token: "bobs-old", expires_at: 1_700_000_000 },
    { ...bobs, token: "nobodys", user: undefined },
    { ...bobs, token: "bobs-bar", page: "2002" },
    { token: "tester", type: "microblog_user", app: "1001", microblog_user: "7001" },
  ],
};

const [cafePage, barPage] = cafe.pages as [(typeof cafe.pages)[0], (typeof cafe.pages)[1]];
const [ada, bob] = cafePage.roles as [(typeof cafePage.roles)[0], (typeof cafePage.roles)[1]];

const labels = (plaza: TestPlaza, token: string, page = "2001") => plaza.get(`/v26.0/${page}/custom_labels`, { token });
const statusOf = async (plaza: TestPlaza, token: string, page?: string) => (await labels(plaza, token, page)).status;

/**
 * Expects that a token is revoked. The response about a revoked token is the error itself in page messaging, and an object with the property `error`
 * elsewhere (D-14).
 */
async function expectRevoked(plaza: TestPlaza, token: string): Promise<void> {
  expect(await labels(plaza, token)).toMatchObject({ status: 403, body: { code: 190, error_subcode: 466 } });
  const wrapped = await plaza.get("/v26.0/2001/live_videos", { bearer: token });
  expect(wrapped).toMatchObject({ status: 401, body: { error: { code: 190, error_subcode: 466 } } });
}

onEachDatabase("page tokens", (database) => {
  const open = () => openControl({ database, world });

  test("D-11: a page token ends with its person's role on the page, and no other token does", async () => {
    const { plaza, request } = await open();
    expect(await statusOf(plaza, "bobs")).toBe(200);
    expect((await request("PATCH", "nodes/pages/2001", { roles: [ada] })).status).toBe(200);
    await expectRevoked(plaza, "bobs");
    expect({ page: await statusOf(plaza, "page"), nobodys: await statusOf(plaza, "nobodys") }).toEqual({ page: 200, nobodys: 200 });
    expect(await statusOf(plaza, "bobs-bar", "2002")).toBe(200);
    const { body } = await plaza.get("/debug_token", { surface: "microblog", query: { access_token: "tester", input_token: "bobs" } });
    expect(body.data).toMatchObject({ is_valid: false, user_id: "3002" });
    const revoked = (await request("GET", "tokens")).body.data.filter((token: { revoked_at: number }) => token.revoked_at !== 0);
    expect(revoked).toEqual([
      expect.objectContaining({ user: "3002", revoked_at: 1_795_000_000 }),
      expect.objectContaining({ user: "3002", revoked_at: 1_795_000_000 }),
    ]);
  });

  test("D-11: a new role does not revive the token; a new token works", async () => {
    const { plaza, request } = await open();
    await changeEntry(plaza, "pages", "2001", { roles: [] });
    await changeEntry(plaza, "pages", "2001", { roles: cafePage.roles });
    await expectRevoked(plaza, "bobs");
    const { body } = await request("POST", "tokens", bobs);
    expect(await statusOf(plaza, body.token)).toBe(200);
  });

  test("D-11: other tasks, and a change of anything else of the page, leave the token", async () => {
    const { plaza } = await open();
    await changeEntry(plaza, "pages", "2001", { roles: [ada, { ...bob, tasks: [], via_business: true }], name: "Café", people: [] });
    await changeEntry(plaza, "users", "3002", { name: "Robert" });
    expect(await statusOf(plaza, "bobs")).toBe(200);
  });

  test("D-11: a merged world file without the role ends the token, even one that the file contains", async () => {
    const { plaza } = await open();
    const merge = (file: object) => importWorld(plaza.world, plaza.registry, JSON.stringify(file), { isMerge: true });
    await merge({ pages: [barPage], tokens: [{ ...bobs, token: "bobs" }] });
    expect(await statusOf(plaza, "bobs")).toBe(200);
    await merge({ pages: [{ ...cafePage, roles: undefined }], tokens: [{ ...bobs, token: "bobs" }] });
    for (const token of ["bobs", "page"]) await expectRevoked(plaza, token);
    await expectRoundTrip(plaza);
  });

  test("D-11: a deleted person's page tokens are revoked without a name; the person's other tokens are deleted", async () => {
    const { plaza, request } = await open();
    const { status, body } = await labels(plaza, "bob");
    expect({ status, code: body.code }).toEqual({ status: 403, code: 200 });
    expect((await request("DELETE", "nodes/users/3002")).status).toBe(200);
    await expectRevoked(plaza, "bobs");
    const gone = await labels(plaza, "bob");
    expect(gone).toMatchObject({ status: 403, body: { code: 190 } });
    expect(gone.body.error_subcode).toBeUndefined();
    expect(JSON.stringify((await request("GET", "tokens")).body)).not.toContain('"3002"');
    expect(await statusOf(plaza, "page")).toBe(200);
    await expectRoundTrip(plaza);
  });
});
