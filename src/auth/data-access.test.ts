/**
 * D-11: the rights of an app after its access to a person's data has ended. These tests check some operations; `test/properties/matrix.test.ts`
 * checks every operation.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestResponse } from "#harness/plaza";
import { cafe } from "#harness/worlds";

/** The time when the access to the person's data ends. The clock of the world in `openPlaza` is an hour before the access ends. */
const OVER = 1_795_003_600;
const scopes = ["pages_messaging"];
const world = {
  ...cafe,
  apps: cafe.apps.map((app) => ({ ...app, roles: [{ microblog_user: "7001", role: "microblog_tester" }] })),
  microblog_users: [{ id: "7001", user: "3001" }],
  tokens: [
    ...cafe.tokens,
    { token: "limited", type: "page", app: "1001", page: "2001", user: "3001", scopes, data_access_expires_at: OVER },
    { token: "unlimited", type: "page", app: "1001", page: "2001", user: "3001", scopes, data_access_expires_at: 0 },
    { token: "tester", type: "microblog_user", app: "1001", microblog_user: "7001", data_access_expires_at: OVER },
  ],
};

const labels = "/v26.0/2001/custom_labels";
const expired = { status: 403, body: { code: 190, error_subcode: 463 } };
const setClock = (plaza: TestPlaza, seconds: number) => {
  plaza.time.realMs = seconds * 1000;
};

onEachDatabase("data access", (database) => {
  const open = () => openPlaza({ database, world });
  const openOver = async () => {
    const plaza = await open();
    setClock(plaza, OVER);
    return plaza;
  };

  test("D-11: it ends with the second that the token names, and never for 0", async () => {
    const plaza = await open();
    setClock(plaza, OVER - 1);
    expect(await plaza.get(labels, { token: "limited" })).toMatchObject({ status: 200 });
    setClock(plaza, OVER);
    expect(await plaza.get(labels, { token: "limited" })).toMatchObject(expired);
    // The clock is set to 2106-02-07, when Unix seconds need more than 32 bits.
    setClock(plaza, 2 ** 32);
    expect(await plaza.get(labels, { token: "unlimited" })).toMatchObject({ status: 200 });
  });

  test("F3: the token stays valid, and may still inspect tokens", async () => {
    const plaza = await openOver();
    const inspect = (input_token: string) => plaza.get("/debug_token", { surface: "microblog", query: { access_token: "tester", input_token } });
    for (const token of ["limited", "tester"]) {
      const { status, body } = await inspect(token);
      expect({ token, status, data: body.data }).toMatchObject({ token, status: 200, data: { is_valid: true, data_access_expires_at: OVER } });
    }
  });

  test("D-11, D-34: no form of a request can read: by id, by ids, as a POST with method=get, as HEAD, with an entity tag, in a batch", async () => {
    const plaza = await open();
    const token = "limited";
    const { headers } = await plaza.get("/v26.0/5001", { token });
    setClock(plaza, OVER);
    const tagged = { authorization: `Bearer ${token}`, "if-none-match": headers.etag ?? "" };
    expect(await plaza.get("/v26.0/5001", { token, headers: tagged })).toMatchObject(expired);
    expect(await plaza.get("/v26.0/5001", { token, query: { access_token: token, oauth_token: token, metadata: "1" } })).toMatchObject(expired);
    expect(await plaza.get("/v26.0/", { token, query: { access_token: token, oauth_token: token, ids: "5001,5101" } })).toMatchObject(expired);
    expect(await plaza.post(labels, { token, body: { method: "get" } })).toMatchObject(expired);
    expect(await plaza.request("HEAD", labels, { token })).toMatchObject({ status: 403 });
    const batch = [
      { method: "POST", name: "made", relative_url: "v26.0/2001/custom_labels", body: "page_label_name=new" },
      { method: "GET", relative_url: "v26.0/{result=made:$.id}" },
    ];
    const { body } = await plaza.post("/", { token, body: { batch } });
    expect(JSON.parse(body[1].body)).toMatchObject(expired.body);
  });

  test("D-11, D-33: writes still work, but return no data that was read", async () => {
    const plaza = await openOver();
    const create = (token: string, fields: string): Promise<TestResponse> =>
      plaza.post(labels, { token, body: { page_label_name: `of ${token}`, fields } });
    const { status, body } = await create("limited", "page{name}");
    expect({ status, body }).toEqual({ status: 200, body: { id: body.id, name: "of limited" } });
    expect((await create("unlimited", "page{name}")).body.page).toEqual({ name: "Cafe", id: "2001" });
    expect((await plaza.get(`/v26.0/${body.id}`, { token: "page" })).body.page_label_name).toBe("of limited");
    expect((await plaza.post("/v26.0/5001/label", { token: "limited", body: { user: "9002" } })).body).toEqual({ success: true });
    expect((await plaza.delete("/v26.0/5001", { token: "limited" })).body).toEqual({ success: true });
  });

  test("D-11: a wrong selection is refused before anything is written, as with any token", async () => {
    const plaza = await openOver();
    const { status, body } = await plaza.post(labels, { token: "limited", body: { page_label_name: "new", fields: "colour" } });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 100, error_data: { parameter: "fields" } } });
    expect((await plaza.get(labels, { token: "page" })).body.data).toHaveLength(1);
  });
});
