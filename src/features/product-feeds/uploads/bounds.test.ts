import { expect, test } from "bun:test";
import type { TSchema } from "typebox";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { feedControlRoutes } from "../product-feeds.control.ts";
import { feedFileBytesMax } from "../product-feeds.settings.ts";
import { feedSection } from "../product-feeds.world.ts";
import { createUpload } from "./uploads.contract.ts";

const routeOf = (operation: string) => feedControlRoutes.find((route) => route.operation === operation);

test("who asks for a report waits for a minute at most, and who names an address may write as much as browsers take", () => {
  expectBounds(routeOf("readFeedUpload")?.query as TSchema, {}, { within_ms: { right: [undefined, 0, 60_000], wrong: [-1, 60_001, 0.5] } });
  const byUrl = routeOf("uploadFeed")?.content?.["application/json"] as TSchema;
  for (const schema of [byUrl, createUpload.params]) expectBounds(schema, {}, { url: { right: ["x", textOf(2_048)], wrong: ["", textOf(2_049)] } });
});

test("D-146, D-147: a feed has a name of 200 characters at most, and no operator allows files of less than a kilobyte", () => {
  expectBounds(feedSection.entry, { id: "8101", catalog: "8001" }, { name: { right: ["", textOf(200)], wrong: [textOf(201)] } });
  expect({ least: feedFileBytesMax.minimum, usual: feedFileBytesMax.default }).toEqual({ least: 1_024, usual: 4 * 2 ** 30 });
});
