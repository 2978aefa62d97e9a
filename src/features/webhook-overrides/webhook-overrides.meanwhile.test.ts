/** Tests what happens if a right, a subscription or a node ends while an override is being set, especially during the handshake. */
import { expect, test } from "bun:test";
import { hashOf } from "#auth/tokens";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { changeEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", roles: [{ user: "3001", role: "developer" }] }],
  chatapp_accounts: [
    { id: "4001", name: "Cafe chat", subscribed_apps: [{ app: "1001" }] },
    { id: "4002", subscribed_apps: [{ app: "1001" }] },
  ],
  phone_numbers: [{ id: "4101", account: "4001" }],
  tokens: [{ token: "wa", type: "system_user", app: "1001", user: "3001", scopes }],
};
const bearer = "wa";

onEachDatabase("webhook overrides", (database) => {
  for (const profile of ["strict", "clients"] as const) {
    test(`D-57 [${profile}]: an app that is unsubscribed in mid-handshake gets no override, and stays unsubscribed`, async () => {
      const plaza = await openPlaza({ database, world, profile });
      const { url, handshakes } = startReceiver(async (challenge) => {
        expect((await plaza.delete("/v26.0/4001/subscribed_apps", { bearer })).body).toEqual({ success: true });
        return new Response(challenge);
      });
      const override = { override_callback_uri: url, verify_token: "v" };
      const requests = {
        "/v26.0/4001/subscribed_apps": override,
        "/v26.0/4101": { webhook_configuration: override },
      };
      for (const [path, body] of Object.entries(requests)) {
        await plaza.world.database.write((tx) => plaza.world.ports.get("chatapp_account_writes").subscribe(tx, nodeId("4001"), nodeId("1001")));
        const refused = await plaza.post(path, { bearer, body });
        expect({ path, status: refused.status, subcode: refused.body.error.error_subcode }).toEqual({ path, status: 400, subcode: 33 });
        expect(await plaza.dump(["webhook_overrides.override_callback_uri"])).toEqual([]);
        expect(await plaza.world.ports.get("chatapp_account").subscribedApps(plaza.world.database.reader, nodeId("4001"))).toEqual([]);
      }
      expect(handshakes).toHaveLength(2);
    });

    const removed = [
      { what: "a number", node: "phone_numbers/4101", path: "/v26.0/4101" },
      { what: "a number's account", node: "chatapp_accounts/4001", path: "/v26.0/4101" },
      { what: "an account", node: "chatapp_accounts/4001", path: "/v26.0/4001/subscribed_apps" },
    ];
    for (const { what, node, path } of removed) {
      test(`D-57 [${profile}]: ${what} that is removed in mid-handshake gets no override and is not found`, async () => {
        const { plaza, request } = await openControl({ database, world, profile });
        const { url, handshakes } = startReceiver(async (challenge) => {
          expect((await request("DELETE", `nodes/${node}`)).status).toBe(200);
          return new Response(challenge);
        });
        const override = { override_callback_uri: url, verify_token: "v" };
        const refused = await plaza.post(path, { bearer, body: path.endsWith("apps") ? override : { webhook_configuration: override } });
        expect({ status: refused.status, subcode: refused.body.error.error_subcode }).toEqual({ status: 400, subcode: 33 });
        expect(handshakes).toHaveLength(1);
        expect(await plaza.dump(["webhook_overrides.override_callback_uri"])).toEqual([]);
      });
    }

    const business = {
      ...world,
      apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
      businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }],
    };
    const owned = { ...business, chatapp_accounts: [{ id: "4001", business: "3501", subscribed_apps: [{ app: "1001" }] }] };
    type Control = Awaited<ReturnType<typeof openControl>>;
    const endedRights: { what: string; given: Record<string, unknown>; end: (control: Control) => Promise<unknown>; refusal: object }[] = [
      {
        what: "the token",
        given: world,
        end: ({
          plaza: {
            world: { tokens, database },
          },
        }) => database.write((tx) => tokens.revoke(tx, hashOf(bearer), 1_795_000_000)),
        refusal: { status: 401, code: 190, subcode: 466 },
      },
      {
        what: "the person",
        given: world,
        end: ({ request }) => request("DELETE", "nodes/users/3001"),
        refusal: { status: 401, code: 190, subcode: undefined },
      },
      {
        what: "the role on the app",
        given: world,
        end: ({ plaza }) => changeEntry(plaza, "apps", "1001", { roles: [] }),
        refusal: { status: 403, code: 200, subcode: undefined },
      },
      {
        what: "the role on the account's business",
        given: owned,
        end: ({ plaza }) => changeEntry(plaza, "businesses", "3501", { people: [] }),
        refusal: { status: 403, code: 200, subcode: undefined },
      },
      {
        what: "the app's permission to send no proof",
        given: world,
        end: ({ plaza }) => changeEntry(plaza, "apps", "1001", { require_appsecret_proof: true }),
        refusal: { status: 400, code: 100, subcode: undefined },
      },
    ];
    for (const { what, given, end, refusal } of endedRights) {
      test(`D-300 [${profile}]: if ${what} ends during the handshake, no override is stored`, async () => {
        const control = await openControl({ database, world: given, profile });
        const { plaza } = control;
        let endRight = async (): Promise<unknown> => undefined;
        const { url, handshakes } = startReceiver(async (challenge) => {
          await endRight();
          return new Response(challenge);
        });
        const override = { override_callback_uri: url, verify_token: "v" };
        const set = () => plaza.post("/v26.0/4001/subscribed_apps", { bearer, body: override });
        expect((await set()).body).toEqual({ success: true });
        endRight = () => end(control);
        const { status, body } = await plaza.post("/v26.0/4101", { bearer, body: { webhook_configuration: override } });
        expect({ status, code: body.error.code, subcode: body.error.error_subcode }).toEqual(refusal as never);
        expect(handshakes).toHaveLength(2);
        expect(await plaza.dump(["webhook_overrides.phone_number"])).toHaveLength(1);
      });
    }

    test(`D-57 [${profile}]: a number that moves to another account during the handshake gets no override at the old one`, async () => {
      const plaza = await openPlaza({ database, world, profile });
      const { url } = startReceiver(async (challenge) => {
        await removeEntry(plaza, "phone_numbers", "4101");
        expect(await insertEntry(plaza, "phone_numbers", { id: "4101", account: "4002" })).toBe(true);
        return new Response(challenge);
      });
      const set = () => plaza.post("/v26.0/4101", { bearer, body: { webhook_configuration: { override_callback_uri: url, verify_token: "v" } } });
      expect((await set()).body.error.error_subcode).toBe(33);
      expect(await plaza.dump(["webhook_overrides.account"])).toEqual([]);
    });
  }

  test("D-305 [clients]: an account that is removed between the check and the write gets no subscription", async () => {
    const plaza = await openPlaza({ database, world, profile: "clients" });
    const stored = plaza.world.database;
    const write = stored.write.bind(stored);
    stored.write = async (body) => {
      stored.write = write;
      expect(await removeEntry(plaza, "chatapp_accounts", "4001")).toBe(true);
      return write(body);
    };
    expect((await plaza.post("/v26.0/4001/subscribed_apps", { bearer })).body.error.error_subcode).toBe(33);
    expect(await plaza.world.ports.get("chatapp_account").subscribedApps(stored.reader, nodeId("4001"))).toEqual([]);
  });

  const endings = { "the number": "phone_numbers/4101", "its account": "chatapp_accounts/4001", "the app's subscription": undefined };
  for (const [what, node] of Object.entries(endings)) {
    test(`D-57: no override stays if ${what} ends while it is stored`, async () => {
      const { plaza, request } = await openControl({ database, world });
      const { webhooks, ports, database: stored } = plaza.world;
      let ending: Promise<{ status: number }> | undefined;
      const resumeUrl = webhooks.resumeUrl.bind(webhooks);
      webhooks.resumeUrl = async (...given) => {
        ending = node === undefined ? plaza.delete("/v26.0/4001/subscribed_apps", { bearer }) : request("DELETE", `nodes/${node}`);
        // The test's reads take so long that a write happens during them unless a lock makes the write wait.
        for (let reads = 0; reads < 100; reads++) await ports.get("chatapp_account").subscribedApps(stored.reader, nodeId("4001"));
        await resumeUrl(...given);
      };
      const { url } = startReceiver();
      const body = { webhook_configuration: { override_callback_uri: url, verify_token: "v" } };
      expect((await plaza.post("/v26.0/4101", { bearer, body })).body).toEqual({ success: true });
      expect((await ending)?.status).toBe(200);
      expect(await plaza.dump(["webhook_overrides.override_callback_uri"])).toEqual([]);
    });
  }
});
