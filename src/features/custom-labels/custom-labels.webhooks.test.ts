import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { changeEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { Webhooks } from "#webhooks/webhooks";
import { labelWebhook } from "./custom-labels.webhooks.ts";

const token = "page";
const onPage = "/v26.0/2001/custom_labels";

onEachDatabase("webhooks of labels", (database) => {
  async function open() {
    const plaza = await openPlaza({ database, world: cafe });
    const receiver = startReceiver();
    await changeEntry(plaza, "apps", "1001", { callback: { url: receiver.url }, subscriptions: [{ object: "page", fields: ["custom_labels"] }] });
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    const received = async () => {
      await plaza.world.work.runDue();
      return receiver.posts.splice(0).flatMap(({ body }) => JSON.parse(body).entry);
    };
    return { plaza, received };
  }
  const values = (entries: { changes: { value: unknown }[] }[]) => entries.flatMap(({ changes }) => changes.map(({ value }) => value));

  test("D-135: each change emits one event, in order, and a request without a change emits none", async () => {
    const { plaza, received } = await open();
    const { body } = await plaza.post(onPage, { token, body: { page_label_name: " später " } });
    for (let i = 0; i < 2; i++) await plaza.post(`/v26.0/${body.id}/label`, { token, body: { user: 9001 } });
    for (let i = 0; i < 2; i++) await plaza.delete(`/v26.0/${body.id}/label`, { token, query: { user: "9001" } });
    await plaza.post(`/v26.0/${body.id}/label`, { token, body: { user: "9002" } });
    await plaza.delete(`/v26.0/${body.id}`, { token });
    const label = { id: body.id, name: "später" };
    const entries = await received();
    expect(new Set(entries.map(({ id }) => id))).toEqual(new Set(["2001"]));
    expect(values(entries)).toEqual([
      { action: "created", label },
      { action: "attached", label, user: { id: "9001" } },
      { action: "detached", label, user: { id: "9001" } },
      { action: "attached", label, user: { id: "9002" } },
      { action: "deleted", label },
    ]);
  });

  test("D-62: a refused request emits no event, at whichever step", async () => {
    const { plaza, received } = await open();
    const refused = [
      await plaza.post(onPage, { token, body: { page_label_name: "vip" } }),
      await plaza.post(onPage, { token: "no-scope", body: { page_label_name: "x" } }),
      await plaza.post("/v26.0/5001/label", { token, body: { user: "9999" } }),
      await plaza.delete("/v26.0/5001", { token: "bar" }),
      await plaza.delete("/v26.0/5999", { token }),
    ];
    expect(refused.map(({ status, body }) => ({ status, code: body.code, subcode: body.error_subcode }))).toEqual([
      { status: 400, code: 100, subcode: undefined },
      { status: 403, code: 10, subcode: undefined },
      { status: 400, code: 100, subcode: 2018001 },
      { status: 400, code: 100, subcode: 33 },
      { status: 400, code: 100, subcode: 33 },
    ]);
    expect(await received()).toEqual([]);
  });

  test("D-135: other pages' labels and changes by the control API send nothing", async () => {
    const { plaza, received } = await open();
    await plaza.post("/v26.0/2002/custom_labels", { token: "bar", body: { page_label_name: "theirs" } });
    await insertEntry(plaza, "labels", { id: "5009", page: "2001", name: "made by hand", users: ["9001"] });
    await changeEntry(plaza, "labels", "5009", { users: [] });
    await removeEntry(plaza, "labels", "5009");
    expect(await received()).toEqual([]);
  });

  test("D-62: of 20 concurrent deletions of one label, one emits an event", async () => {
    const { plaza, received } = await open();
    await Promise.all(Array.from({ length: 20 }, () => plaza.delete("/v26.0/5001", { token })));
    expect(values(await received())).toEqual([{ action: "deleted", label: { id: "5001", name: "vip" } }]);
  });
});

test("D-135: an unknown action or a label without a name does not compile", () => {
  const label = { id: "5001", name: "vip" };
  const wrong = (webhooks: Webhooks, tx: Transaction) => {
    // @ts-expect-error: labels are not renamed.
    webhooks.emit(tx, labelWebhook, { entity: nodeId("2001"), payload: { action: "renamed", label } });
    // @ts-expect-error: the name is missing.
    webhooks.emit(tx, labelWebhook, { entity: nodeId("2001"), payload: { action: "created", label: { id: "5001" } } });
  };
  expect(wrong).toBeFunction();
});
