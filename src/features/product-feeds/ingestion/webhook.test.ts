import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { csv, openFeeds, row } from "#harness/feeds";
import { startReceiver } from "#harness/receiver";

onEachDatabase("D-149: the end of an ingestion", (database) => {
  test("reaches the apps that are subscribed to it and on the catalog's page, and nobody else", async () => {
    const receiver = startReceiver();
    const { upload, request, plaza } = await openFeeds(database);
    const subscription = { callback: { url: receiver.url }, subscriptions: [{ object: "catalog", fields: ["product_feed"] }] };
    for (const app of ["1001", "1002"]) expect((await request("PATCH", `nodes/apps/${app}`, subscription)).status).toBe(200);
    await upload(csv(row("a")));
    expect(receiver.posts).toEqual([]);
    await request("PATCH", "nodes/pages/2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    for (const file of [csv(row("b")), "<html></html>"]) {
      await upload(file);
      await plaza.world.work.runDue();
    }
    const event = (status: string) => ({
      object: "catalog",
      entry: [
        {
          ...{ id: "8001", time: 1_795_000_000 },
          changes: [{ field: "product_feed", value: { catalog_id: "8001", product_feed_id: "8101", status } }],
        },
      ],
    });
    expect(receiver.posts.map(({ body }) => JSON.parse(body))).toEqual([event("Finished"), event("Failed")]);
  });
});
