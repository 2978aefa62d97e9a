import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const labels = "/v26.0/2001/custom_labels";

onEachDatabase("faults", (database) => {
  test("an operation fails as often as it was asked to, in its own form, and nothing is done", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "createLabel", status: 503, times: 2 });
    for (let i = 0; i < 2; i++) {
      const { status, body } = await plaza.post(labels, { token: "page", body: { page_label_name: "new" } });
      expect({ status, code: body.code, is_transient: body.is_transient }).toEqual({ status: 503, code: 2, is_transient: true });
    }
    expect((await plaza.get(labels, { token: "page" })).body.data).toHaveLength(1);
    expect((await plaza.post(labels, { token: "page", body: { page_label_name: "new" } })).status).toBe(200);
    expect(plaza.world.faults.list()).toEqual([]);
  });

  test("a fault with latency alone delays the response and keeps it; deleted faults apply to no request", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "*", latency_ms: 1 });
    expect((await plaza.get(labels, { token: "page" })).status).toBe(200);
    plaza.world.faults.add({ operation: "*", status: 400, code: 100, probability: 0 });
    expect(plaza.world.faults.list().map(({ met }) => met)).toEqual([1, 0]);
    plaza.world.faults.clear();
    expect((await plaza.get(labels, { token: "page" })).status).toBe(200);
  });
});
