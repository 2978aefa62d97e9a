/** D-136: tests that the transaction that causes an event is committed, whatever payload the event has. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import { defineWebhookField, type WebhookField } from "./catalogue/field.ts";

/**
 * A webhook field whose variable has no payload type, so that code with a wrong payload compiles. In the program, only data at run time can be wrong
 * in this way.
 */
const strict: WebhookField = defineWebhookField({
  object: "page",
  field: "strict",
  payload: Type.Object({ name: Type.String() }),
  example: () => ({ name: "An example" }),
  summary: "a field with a contract",
});

const entity = nodeId("2001");

onEachDatabase("a payload that breaks its contract", (kind) => {
  async function open() {
    const receiver = startReceiver();
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const fixture = openWebhooks(database, { features: newFeatures(receiver.url), fields: [strict] });
    /** Emits an event of the given field and an event with a right payload in one transaction. */
    const write = async (field: WebhookField, payload: unknown) => {
      await database.write(async (tx) => {
        await fixture.webhooks.emit(tx, field, { entity, payload });
        await fixture.webhooks.emit(tx, chatappField("calls"), { entity: nodeId("4001"), payload: { is: "right" } });
      });
      await fixture.loop.runDue();
      return valuesAt(receiver);
    };
    return { fixture, receiver, write };
  }

  test("is still sent, reported and counted", async () => {
    const { fixture, write } = await open();
    expect(await write(strict, { name: 7 })).toEqual(expect.arrayContaining([{ name: 7 }, { is: "right" }]));
    expect(fixture.brokenPayloads.splice(0)).toEqual([{ object: "page", field: "strict", entity, path: "name", problem: "must be string" }]);
    await write(strict, {});
    fixture.brokenPayloads.splice(0);
    expect([...fixture.webhooks.metrics.brokenPayloads()]).toEqual([{ object: "page", field: "strict", count: 2 }]);
  });

  test("that cannot be sent is only reported", async () => {
    const { fixture, write } = await open();
    const circle: Record<string, unknown> = { name: "around" };
    circle.itself = circle;
    for (const payload of [circle, { name: "big", size: 1n }, undefined]) {
      expect(await write(strict, payload)).not.toContainEqual(expect.objectContaining({ name: expect.anything() }));
      const report = {
        object: "page",
        field: "strict",
        entity,
        path: "",
        problem: "the event is not sent, because its payload cannot be written as JSON",
      };
      expect(fixture.brokenPayloads.splice(0)).toContainEqual(report);
    }
    // An event of a field that is not in the catalogue is not sent, because no app can be subscribed to this field, and its key in an entry is
    // unknown.
    expect(await write({ ...strict, field: "forgotten" }, { name: "x" })).toHaveLength(4);
    const report = {
      object: "page",
      field: "forgotten",
      entity,
      path: "",
      problem: "the event is not sent, because its field is not in the catalogue",
    };
    expect(fixture.brokenPayloads.splice(0)).toEqual([report]);
  });

  test("is not reported when its cause is rolled back, because there is no event", async () => {
    const { fixture } = await open();
    const refused = fixture.database.write(async (tx) => {
      await fixture.webhooks.emit(tx, strict, { entity, payload: { name: 7 } });
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    expect(fixture.brokenPayloads).toEqual([]);
  });
});

test("a test in which it happens fails", async () => {
  const plaza = await openPlaza();
  const { database, webhooks } = plaza.world;
  const field: WebhookField = plaza.registry.webhookFields.read("page", "custom_labels");
  await database.write((tx) => webhooks.emit(tx, field, { entity, payload: { action: "renamed" } }));
  await expect(plaza.close()).rejects.toThrow("custom_labels");
  plaza.brokenPayloads.splice(0);
});
