import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { cafe } from "#harness/worlds";

const onApp = "/v26.0/1001/subscriptions";

onEachDatabase("webhook subscriptions", (database) => {
  test("D-60: after any requests, the list contains the added fields without the removed ones", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const { url } = startReceiver();
    const model = new Map<string, Set<string>>();
    const { webhookFields } = plaza.registry;
    const objects = [...new Set(webhookFields.all.map(({ object }) => object))];
    const request = fc.constantFrom(...objects).chain((object) => {
      const own = webhookFields.namesOf(object);
      return fc.record({
        object: fc.constant(object),
        isEnd: fc.boolean(),
        isWhole: fc.boolean(),
        fields: fc.uniqueArray(fc.constantFrom(...own), { minLength: 1 }),
      });
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 6 }), async (requests) => {
        for (const { object, isEnd, isWhole, fields } of requests) {
          const known = model.get(object) ?? new Set();
          if (isEnd) {
            await plaza.delete(onApp, { bearer: "app", body: isWhole ? { object } : { object, fields } });
            for (const field of isWhole ? [...known] : fields) known.delete(field);
          } else {
            await plaza.post(onApp, { bearer: "app", body: { object, callback_url: url, fields, verify_token: "v" } });
            for (const field of fields) known.add(field);
          }
          model.set(object, known);
        }
        const expected = objects.filter((object) => (model.get(object)?.size ?? 0) > 0).sort();
        const found = (await plaza.get(onApp, { bearer: "app" })).body.data;
        expect(found.map((one: { object: string }) => one.object)).toEqual(expected);
        for (const { object, fields } of found) expect(new Set(fields)).toEqual(model.get(object) as Set<string>);
      }),
      { numRuns: database === "sqlite" ? 40 : 8 },
    );
  });
});
