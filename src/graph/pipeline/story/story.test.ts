import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const token = "page";
const onPage = "/v26.0/2001/custom_labels";

onEachDatabase("the details of a request", (database) => {
  test("are recorded with debug=all, or while a console is open, and for no other request", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    expect((await plaza.get(onPage, { token })).story).toBeUndefined();
    const { story } = await plaza.get(onPage, { token, query: { debug: "all", limit: "1" } });
    expect(story).toMatchObject({
      credentials: ["bearer", "access_token", "oauth_token"].map((place) => ({ place, type: "page", app: "1001" })),
      node: { id: "2001", type: "page" },
      version: { asked: "v26.0", served: "v26.0" },
      deliveries: [],
    });
    expect(story?.steps.map(({ name }) => name)).toEqual(["understand", "check", "handle", "respond"]);
    expect(story?.policy?.scopes).toEqual(["pages_messaging"]);
    const unwatch = plaza.world.requests.watch();
    expect((await plaza.get(onPage, { token })).story).toMatchObject({ node: { id: "2001", type: "page" } });
    unwatch();
    expect((await plaza.get(onPage, { token })).story).toBeUndefined();
  });

  test("of a write have its parameters as understood, and the webhooks that were stored with it", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    await changeEntry(plaza, "apps", "1001", {
      callback: { url: "http://127.0.0.1:9/" },
      subscriptions: [{ object: "page", fields: ["custom_labels"] }],
    });
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    plaza.world.requests.watch();
    const { story, status } = await plaza.post(onPage, { token, body: { page_label_name: " gold " } });
    expect(status).toBe(200);
    expect(JSON.parse(story?.parameters ?? "")).toMatchObject({ page_label_name: "gold" });
    expect(story?.deliveries).toHaveLength(1);
    // A refused write stores nothing, and its story ends with the step that refused the write and the error.
    const refused = await plaza.post(onPage, { token, body: { page_label_name: "gold" } });
    expect(refused.story).toMatchObject({ deliveries: [], error: expect.any(String) });
    expect(refused.story?.steps.map(({ name }) => name)).toEqual(["understand", "check", "handle"]);
  });

  test("D-272: name the fault that affected the request, even if it was only delayed", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.requests.watch();
    const { id } = plaza.world.faults.add({ operation: "listLabels", status: 503, times: 1 });
    plaza.world.faults.add({ operation: "listLabels", latency_ms: 1, body: '{"data":[]}', times: 1 });
    const failed = await plaza.get(onPage, { token });
    expect({ status: failed.status, fault: JSON.parse(failed.story?.fault ?? "") }).toMatchObject({ status: 503, fault: { id, status: 503 } });
    const late = JSON.parse((await plaza.get(onPage, { token })).story?.fault ?? "");
    expect(late).toMatchObject({ latency_ms: 1 });
    expect(late).not.toHaveProperty("body");
    expect((await plaza.get(onPage, { token })).story).not.toHaveProperty("fault");
  });

  test("of a request that was refused early show its last step", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.requests.watch();
    const { story } = await plaza.get(onPage, { token: "nobody's" });
    expect(story).toMatchObject({ error: "tokenInvalid", version: { asked: "v26.0" }, credentials: [] });
    expect(story?.steps.map(({ name }) => name)).toEqual(["understand"]);
    expect(story?.policy).toBeUndefined();
  });
});
