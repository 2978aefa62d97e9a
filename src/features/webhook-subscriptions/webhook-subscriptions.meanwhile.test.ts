/** Tests changes that happen during the handshake of a subscription. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const path = "/v26.0/1001/subscriptions";
const bearer = "app";

onEachDatabase("webhook subscriptions", (database) => {
  test("D-60: fields that the app removes during the handshake stay removed", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    let meanwhile = async () => {};
    const { url } = startReceiver(async (challenge) => {
      await meanwhile();
      return new Response(challenge);
    });
    const subscribe = (fields: string[]) => plaza.post(path, { bearer, body: { object: "social", callback_url: url, verify_token: "v", fields } });
    await subscribe(["messages"]);
    meanwhile = async () => void (await plaza.delete(path, { bearer, body: {} }));
    expect((await subscribe(["comments"])).body).toEqual({ success: true });
    expect((await plaza.get(path, { bearer })).body.data).toMatchObject([{ object: "social", fields: ["comments"] }]);
  });

  test("D-60: an app that is removed during the handshake is not found, and nothing is stored", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { url } = startReceiver(async (challenge) => {
      expect(await removeEntry(plaza, "apps", "1001")).toBe(true);
      return new Response(challenge);
    });
    const refused = await plaza.post(path, { bearer, body: { object: "social", callback_url: url, verify_token: "v", fields: ["messages"] } });
    expect({ status: refused.status, subcode: refused.body.error.error_subcode }).toEqual({ status: 400, subcode: 33 });
    expect(await plaza.dump(["webhook_subscriptions.fields"])).toEqual([]);
  });
});
