/** What ends while the handshake of an override is under way. */
import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", roles: [{ user: "3001", role: "developer" }] }],
  chatapp_accounts: [{ id: "4001", name: "Cafe chat", subscribed_apps: [{ app: "1001" }] }],
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
        expect(await plaza.dump(["webhook_overrides.override_callback_uri", "chatapp_subscribed_apps.app"])).toEqual([]);
      }
      expect(handshakes).toHaveLength(2);
    });
  }
});
