/** A file for a product feed, in the server and in the model. */
import type { FeedFileStep } from "../histories/steps.ts";
import { emitOfCatalog } from "../reference/areas/catalogs.ts";
import type { Feed } from "../reference/nodes.ts";
import { differenceOf } from "./compare.ts";
import { idOf } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";

type Item = Readonly<Record<string, string>>;

const itemOf = ({ retailer_id, name, brand }: NonNullable<FeedFileStep["rows"]>[number]): Item => ({
  ...{ retailer_id, name, image_url: "https://example.com/i.png", url: `https://example.com/${retailer_id.codePointAt(0)}` },
  ...(brand === "" ? {} : { brand }),
});

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

function fileOf({ rows }: FeedFileStep): string {
  if (rows === null) return "<html>no feed</html>";
  const names = ["retailer_id", "name", "image_url", "url", "brand"];
  return [names.join(","), ...rows.map(itemOf).map((item) => names.map((name) => cell(item[name] ?? "")).join(","))].join("\n");
}

/** D-140, D-141, D-148: what the feed shows after the file; undefined: it is unchanged. */
function itemsAfter({ items: before }: Feed, { rows, updateOnly }: FeedFileStep): Map<string, Item> | undefined {
  if (rows === null) return undefined;
  const good = rows.filter(({ name }) => name !== "").map(itemOf);
  // A file without a good row fails; one without rows is an empty feed.
  if (good.length === 0 && rows.length > 0) return undefined;
  const bad = rows.filter(({ name }) => name === "").map(({ retailer_id }) => retailer_id);
  const after = new Map<string, Item>(updateOnly ? before : []);
  // D-141: a bad row is not in the feed, even if an earlier file had a good one.
  if (!updateOnly) for (const id of bad) after.delete(id);
  for (const item of good) after.set(item.retailer_id ?? "", item);
  return after;
}

interface Uploaded {
  readonly n: number;
}

/** The ids of items are the server's: those that stay keep theirs, and new ones are new. */
async function takeIds({ servers }: Stage, { world, place }: Scene, feed: Feed, after: ReadonlyMap<string, Item>): Promise<string | undefined> {
  const { body } = await servers.control("GET", `worlds/${place}/nodes/product_feeds/${feed.id}`);
  const shown = (body as { items: readonly Item[] }).items;
  const ids = new Map(shown.map(({ retailer_id = "", id = "" }) => [retailer_id, id]));
  for (const [retailer, { id }] of feed.items)
    if (after.has(retailer) && ids.get(retailer) !== id) return `the item ${retailer} has the id ${ids.get(retailer)}, and no longer ${id}`;
  for (const [retailer, id] of ids) {
    if (!feed.items.has(retailer) && world.idsSeen.has(id)) return `the new item ${retailer} has the id ${id}, which something else had`;
    world.idsSeen.add(id);
    if (BigInt(id) > world.lastMinted) world.lastMinted = BigInt(id);
  }
  feed.items = new Map([...after].map(([retailer, item]) => [retailer, { ...item, id: ids.get(retailer) ?? "" }]));
  const sorted = (all: Iterable<Item>) => [...all].sort((a, b) => ((a.retailer_id ?? "") < (b.retailer_id ?? "") ? -1 : 1));
  return differenceOf(sorted(feed.items.values()), sorted(shown), `items of ${feed.id}`);
}

export async function fillFeed(stage: Stage, scene: Scene, step: FeedFileStep): Promise<string | undefined> {
  const { world, ever, place } = scene;
  const feed = world.product_feeds.get(idOf(ever, step.feed));
  if (feed === undefined) return undefined;
  const uploads = `worlds/${place}/feeds/${feed.id}/uploads`;
  const { status, body } = await stage.servers.upload(`${uploads}?format=csv&update_only=${step.updateOnly}`, fileOf(step));
  if (status >= 300) return `the file is refused: ${JSON.stringify(body)}`;
  const { body: report } = await stage.servers.control("GET", `${uploads}/${(body as Uploaded).n}?within_ms=20000`);
  const after = itemsAfter(feed, step);
  const { status: became } = report as { status: string };
  if (became !== (after === undefined ? "failed" : "done")) return `the upload is ${became}: ${JSON.stringify(report)}`;
  world.reach(after === undefined ? "feedFailed" : "feedFilled");
  const problem = after === undefined ? undefined : await takeIds(stage, scene, feed, after);
  emitOfCatalog(world, feed, after === undefined ? "Failed" : "Finished");
  return problem;
}
