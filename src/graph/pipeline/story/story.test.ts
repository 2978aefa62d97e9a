import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const token = "page";
const onPage = "/v26.0/2001/custom_labels";

onEachDatabase("D-272: the story of a request", (database) => {
  test("is recorded for every request, and nobody has to watch", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { story } = await plaza.get(onPage, { token, query: { limit: "1" } });
    expect(story).toMatchObject({
      credentials: ["bearer", "access_token", "oauth_token"].map((place) => ({ place, type: "page", app: "1001", of: "2001" })),
      node: { id: "2001", type: "page" },
      version: { asked: "v26.0", served: "v26.0" },
      deliveries: [],
    });
    expect(story?.steps.map(({ name }) => name)).toEqual(["understand", "check", "handle", "respond"]);
    expect(story?.policy?.scopes).toEqual(["pages_messaging"]);
  });

  test("tells the same of a request whose steps are not timed", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.requests.isNextTimed = () => false;
    const { story } = await plaza.get(onPage, { token });
    plaza.world.requests.isNextTimed = () => true;
    const timed = (await plaza.get(onPage, { token })).story;
    const { steps, node, ...rest } = timed ?? { steps: [] };
    expect(story as unknown).toEqual({ ...rest, steps: steps.map(({ name }) => ({ name })), node: { id: node?.id, type: node?.type } });
    expect(steps.every(({ duration_ms }) => duration_ms !== undefined)).toBe(true);
  });

  test("of a write has its parameters as understood, and the webhooks that were stored with it", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const lonely = await plaza.post(onPage, { token, body: { page_label_name: "alone" } });
    expect(lonely.story).toMatchObject({ deliveries: [], unsent: [{ object: "page", field: "custom_labels", entity: "2001" }] });
    await changeEntry(plaza, "apps", "1001", {
      callback: { url: "http://127.0.0.1:9/" },
      subscriptions: [{ object: "page", fields: ["custom_labels"] }],
    });
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    const { story, status } = await plaza.post(onPage, { token, body: { page_label_name: " gold " } });
    expect(status).toBe(200);
    expect(JSON.parse(story?.parameters ?? "")).toMatchObject({ page_label_name: "gold" });
    expect(story?.deliveries).toHaveLength(1);
    // A refused write stores nothing, and its story ends with the step that refused the write and the error.
    const refused = await plaza.post(onPage, { token, body: { page_label_name: "gold" } });
    expect(refused.story).toMatchObject({ deliveries: [], error: "invalidParameter", data: { parameter: "page_label_name" } });
    expect(refused.story?.steps.map(({ name }) => name)).toEqual(["understand", "check", "handle"]);
  });

  test("names the fault that affected the request, even if it was only delayed", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { id } = plaza.world.faults.add({ operation: "listLabels", status: 503, times: 1 });
    plaza.world.faults.add({ operation: "listLabels", latency_ms: 1, body: '{"data":[]}', times: 1 });
    const failed = await plaza.get(onPage, { token });
    expect({ status: failed.status, fault: JSON.parse(failed.story?.fault ?? "") }).toMatchObject({ status: 503, fault: { id, status: 503 } });
    const late = JSON.parse((await plaza.get(onPage, { token })).story?.fault ?? "");
    expect(late).toMatchObject({ latency_ms: 1 });
    expect(late).not.toHaveProperty("body");
    expect((await plaza.get(onPage, { token })).story).not.toHaveProperty("fault");
  });

  test("of a request that was refused early shows its last step", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { story } = await plaza.get(onPage, { token: "nobody's" });
    expect(story).toMatchObject({ error: "tokenInvalid", version: { asked: "v26.0" }, credentials: [] });
    expect(story?.steps.map(({ name }) => name)).toEqual(["understand"]);
    expect(story?.policy).toBeUndefined();
  });

  test("knows a node that the caller may not see, and the token that may not", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { story, status } = await plaza.get(onPage, { token: "bar" });
    expect({ status, story }).toMatchObject({
      status: 400,
      story: {
        is_concealed: true,
        node: { id: "2001", type: "page", owner: "2001" },
        error: "unsupportedRequest",
        policy: { name: "pageMessaging" },
      },
    });
    expect(story?.credentials[0]).toMatchObject({ type: "page", of: "2002" });
  });
});
