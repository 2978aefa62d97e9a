import { expect, test } from "bun:test";
import { standardCalendar } from "#graph/versions/calendar";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, findEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const app = {
  id: "1009",
  name: "New",
  secret: "a secret ü",
  mode: "development",
  created_time: 1_700_000_000,
  auto_upgrade: false,
  require_appsecret_proof: true,
  allow_tokenless_events: true,
  automatic_event_logging: true,
  messaging_access: false,
  event_name_limit: 7,
  event_schemas: { level_up: { type: "object", required: ["level"], properties: { level: { type: "integer" } } } },
  callback: { url: "http://127.0.0.1:9/hook", verify_token: "verify me", verified: true },
  subscriptions: [{ object: "social", fields: ["messages"] }],
  roles: [{ user: "3001", role: "administrator" }],
  migrations: { label_names_case_insensitive: true },
};

onEachDatabase("apps", (database) => {
  const open = () => openPlaza({ database, world: cafe });
  const read = (plaza: Awaited<ReturnType<typeof open>>, bearer: string, id = "1001") => plaza.get(`/v26.0/${id}`, { bearer });

  test("an app is created, updated and removed by a world file entry", async () => {
    const plaza = await open();
    await expectLifeOfEntry(plaza, "apps", app, { name: "Changed", mode: "live", roles: [{ user: "3002", role: "developer" }] });
    await expectRoundTrip(plaza);
  });

  test("missing keys of an entry get their defaults", async () => {
    const plaza = await openPlaza({ database, world: { apps: [{ id: "1001" }] } });
    const { secret, ...entry } = (await findEntry(plaza, "apps", "1001")) as Record<string, unknown>;
    expect(entry).toEqual({
      ...{ id: "1001", name: "", mode: "live", created_time: 1_795_000_000, marketing_first_used_time: 0, auto_upgrade: true },
      redirect_uris: [],
      ...{ require_appsecret_proof: false, allow_tokenless_events: false, automatic_event_logging: false, access_level: "advanced" },
      ...{ messaging_access: true, event_name_limit: 1_000, event_schemas: {}, migrations: {}, subscriptions: [], roles: [] },
    });
    // An app's secret has 128 bits, of which each character has six.
    expect(String(secret)).toMatch(/^[\w-]{22}$/);
  });

  test("secrets are stored only sealed or hashed", async () => {
    const plaza = await open();
    await changeEntry(plaza, "apps", "1001", { callback: app.callback, secret: app.secret });
    const rows = JSON.stringify(
      await plaza.dump(["apps.secret_hash", "apps.sealed_secret", "webhook_subscriptions.sealed_verify_token", "tokens.hash"]),
    );
    for (const secret of [app.secret, "verify me", "no-scope", "0ther"]) expect(rows).not.toContain(secret);
  });

  test("D-11: {app_id}|{app_secret} is an app token, and a changed secret is valid at once", async () => {
    const plaza = await open();
    expect((await read(plaza, "1001|s3cret")).body).toEqual({ id: "1001", name: "Shop" });
    for (const wrong of ["1001|S3cret", "1001|", "1002|s3cret", "1009|s3cret", "x|s3cret"]) expect((await read(plaza, wrong)).status).toBe(401);
    await changeEntry(plaza, "apps", "1001", { secret: "another" });
    expect((await read(plaza, "1001|s3cret")).status).toBe(401);
    expect((await read(plaza, "1001|another")).status).toBe(200);
  });

  test("D-13: an app is read and updated by its own token or its administrators and developers", async () => {
    const plaza = await open();
    expect((await read(plaza, "app")).status).toBe(200);
    expect((await read(plaza, "ada")).body.error.code).toBe(200);
    await changeEntry(plaza, "apps", "1001", { roles: [{ user: "3001", role: "administrator" }] });
    expect((await read(plaza, "ada")).status).toBe(200);
    for (const stranger of ["1002|0ther", "page", "other-app"]) expect((await read(plaza, stranger)).body.error.error_subcode).toBe(33);
    const update = await plaza.post("/v26.0/1001", { bearer: "1002|0ther", body: { migrations: {} } });
    expect(update.body.error.error_subcode).toBe(33);
    expect((await plaza.post("/v26.0/1001", { bearer: "app", body: {} })).body.error.error_data.parameter).toBe("migrations");
  });

  test("D-33: an update with fields returns the updated migrations", async () => {
    const plaza = await open();
    for (const label_names_case_insensitive of [false, true]) {
      const migrations = { label_names_case_insensitive };
      const update = await plaza.post("/v26.0/1001", { bearer: "app", query: { fields: "migrations" }, body: { migrations } });
      expect(update.body).toEqual({ id: "1001", migrations });
    }
  });

  test("VER-7e: an update changes only the switches that it names", async () => {
    const window = (name: string) => ({ name, start: 1_790_000_000, end: 1_800_000_000 });
    const calendar = { ...standardCalendar, migrations: [...standardCalendar.migrations, window("one"), window("two")] };
    const plaza = await openPlaza({ database, world: cafe, calendar });
    const update = async (migrations: object) =>
      (await plaza.post("/v26.0/1001", { bearer: "app", query: { fields: "migrations" }, body: { migrations } })).body.migrations;
    const off = { label_names_case_insensitive: false, one: false, two: false };
    expect(await update({ one: true })).toEqual({ ...off, one: true });
    expect(await update({ two: true })).toEqual({ ...off, one: true, two: true });
    expect(await update({ one: false, label_names_case_insensitive: true })).toEqual({ label_names_case_insensitive: true, one: false, two: true });
    expect(await update({})).toEqual({ label_names_case_insensitive: true, one: false, two: true });
    expect((await findEntry(plaza, "apps", "1002"))?.migrations).toEqual({});
  });

  test("D-82: a migration is switched on and off from the next request, even for a new app", async () => {
    const plaza = await open();
    const create = async (token: string, page_label_name: string) =>
      (await plaza.post("/v26.0/2001/custom_labels", { token, body: { page_label_name } })).status;
    const turn = async (isOn: boolean) =>
      expect((await plaza.post("/v26.0/1001", { bearer: "app", body: { migrations: { label_names_case_insensitive: isOn } } })).status).toBe(200);
    expect(await create("page", "VIP")).toBe(200);
    await turn(true);
    expect(await create("page", "Vip")).toBe(400);
    // The app that the request did not name is unchanged.
    expect(await create("other-app", "viP")).toBe(200);
    await turn(false);
    expect(await create("page", "Vip")).toBe(200);
  });

  test("a removed app's tokens are invalid", async () => {
    const plaza = await open();
    expect((await plaza.get("/v26.0/5001", { token: "page" })).status).toBe(200);
    await removeEntry(plaza, "apps", "1001");
    for (const token of ["page", "1001|s3cret"]) expect((await plaza.get("/v26.0/5001", { token })).body.code).toBe(190);
    expect((await plaza.get("/v26.0/5001", { token: "other-app" })).status).toBe(200);
  });
});
