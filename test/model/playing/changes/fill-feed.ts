/** Sends a file to a product feed, in the server and in the model. */
import type { FeedFileStep } from "../../histories/steps.ts";
import { emitOfCatalog } from "../../reference/areas/catalogs.ts";
import { addFetched, addUpload } from "../../reference/areas/uploads.ts";
import type { Feed, Upload } from "../../reference/nodes.ts";
import { type DueFetches, takeDueFetches } from "../../reference/schedules.ts";
import { differenceOf } from "../compare.ts";
import { idOf } from "../resolve.ts";
import type { Scene, Stage } from "../scene.ts";
import { textOf } from "../send.ts";
import { letTimePass } from "./change-video.ts";

type Item = Readonly<Record<string, string>>;

/** Takes the ids of a feed's items from the server. Items that stay keep their ids, and new items have new ids. */
async function takeIds({ servers }: Stage, { world, place }: Scene, feed: Feed, after: ReadonlyMap<string, Item>): Promise<string | undefined> {
  const { body } = await servers.control("GET", `worlds/${place}/nodes/product_feeds/${feed.id}`);
  const shown = (body as { items: readonly Item[] }).items;
  const ids = new Map(shown.map(({ retailer_id = "", id = "" }) => [retailer_id, id]));
  for (const [retailer, { id }] of feed.items)
    if (after.has(retailer) && ids.get(retailer) !== id) return `the item ${retailer} has the id ${ids.get(retailer)}, and no longer ${id}`;
  for (const [retailer, id] of ids) {
    if (!feed.items.has(retailer) && world.idsSeen.has(id)) return `the new item ${retailer} has the id ${id}, which another node had before`;
    world.idsSeen.add(id);
    if (BigInt(id) > world.lastMinted) world.lastMinted = BigInt(id);
  }
  feed.items = new Map([...after].map(([retailer, item]) => [retailer, { ...item, id: ids.get(retailer) ?? "" }]));
  const sorted = (all: Iterable<Item>) => [...all].sort((a, b) => ((a.retailer_id ?? "") < (b.retailer_id ?? "") ? -1 : 1));
  return differenceOf(sorted(feed.items.values()), sorted(shown), `items of ${feed.id}`);
}

/** Waits until the server has read the file, and then compares the items of the feed. */
export async function finishUpload(stage: Stage, scene: Scene, upload: Upload): Promise<string | undefined> {
  const { servers } = stage;
  const { body: report } = await servers.control("GET", `worlds/${scene.place}/feeds/${upload.feed}/uploads/${upload.n}?within_ms=20000`);
  const { status: became } = report as { status: string };
  const isRight = became === (upload.after === undefined ? "failed" : "done");
  return isRight ? takeUpload(stage, scene, upload) : `the upload is ${became}: ${JSON.stringify(report)}`;
}

/** Makes the changes of a completed upload in the model. */
async function takeUpload(stage: Stage, scene: Scene, { feed: id, after }: Upload): Promise<string | undefined> {
  const { world } = scene;
  const feed = world.product_feeds.get(id) as Feed;
  world.reach(after === undefined ? "feedFailed" : "feedFilled");
  const problem = after === undefined ? undefined : await takeIds(stage, scene, feed, after);
  emitOfCatalog(world, feed, after === undefined ? "Failed" : "Finished");
  return problem;
}

/**
 * Sends the file. `meanwhile` runs as soon as the file is accepted, perhaps while the server reads it; its argument is the path of the upload in the
 * control API.
 */
export async function fillFeed(
  stage: Stage,
  scene: Scene,
  { feed: name, rows, updateOnly }: FeedFileStep,
  meanwhile = async (_path: string): Promise<void> => {},
): Promise<string | undefined> {
  const { world, ever, place } = scene;
  const feed = world.product_feeds.get(idOf(ever, name));
  if (feed === undefined) return undefined;
  const path = `worlds/${place}/feeds/${feed.id}/uploads?format=csv&update_only=${updateOnly}`;
  const { status, body } = await stage.servers.upload(path, textOf(rows));
  if (status >= 300) return `the file is refused: ${JSON.stringify(body)}`;
  const upload = addUpload(world, feed, { rows, isUpdate: updateOnly }, { id: undefined, filename: undefined, format: "csv" });
  const { n } = body as { n: number };
  await meanwhile(`worlds/${place}/feeds/${feed.id}/uploads/${n}`);
  return n === upload.n ? finishUpload(stage, scene, upload) : `the upload is number ${n}, not ${upload.n}`;
}

interface Report {
  readonly n: number;
  readonly status: string;
  readonly started_time?: number;
  readonly ended_time?: number;
}

/** The time within which the server makes due fetches, also on a busy machine. */
const FETCHED_WITHIN_MS = 20_000;

/** The number of reports that the control API keeps. */
const REPORTS_MAX = 100;

async function reportsOf({ servers }: Stage, { place }: Scene, { id }: Feed): Promise<readonly Report[]> {
  const { body } = await servers.control("GET", `worlds/${place}/feeds/${id}/uploads?limit=${REPORTS_MAX}`);
  return (body as { readonly data: readonly Report[] }).data;
}

/** D-266: when the move of the clock ends, every scheduled fetch has happened at its own time. */
async function playExactly(stage: Stage, scene: Scene, { feed, fetch, times }: DueFetches): Promise<string | undefined> {
  const { world } = scene;
  const known = feed.uploads.length;
  const shown = await reportsOf(stage, scene, feed);
  if (shown[0]?.n !== known + times.length)
    return `feed ${feed.id} has ${shown[0]?.n} uploads, not ${known + times.length}: it was fetched at ${times}`;
  if (times.length > REPORTS_MAX) world.reach("longMove");
  const { now, movedFrom } = world;
  for (const [place, time] of times.entries()) {
    const upload = addFetched(world, feed, fetch.schedule.url, { isUpdate: fetch.isUpdate, id: undefined, time, ended: time });
    const report = shown.find(({ n }) => n === upload.n);
    const isDone = report?.status === (upload.after === undefined ? "failed" : "done") && report.started_time === time && report.ended_time === time;
    if (report === undefined ? times.length - place <= REPORTS_MAX : !isDone)
      return `upload ${upload.n} of feed ${feed.id} is ${JSON.stringify(report)}, and was due at ${time}`;
    // The time in the upload's webhook is the time of the fetch.
    Object.assign(world, { now: time, movedFrom: time });
    const problem = await takeUpload(stage, scene, upload);
    Object.assign(world, { now, movedFrom });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * The files that were fetched after another process moved the clock, oldest first. A late process fetches a file only once for all missed times.
 */
async function newUploads(stage: Stage, scene: Scene, { feed, times }: DueFetches): Promise<Report[]> {
  let before = -1;
  for (const endMs = performance.now() + FETCHED_WITHIN_MS; ; await Bun.sleep(20)) {
    const found = (await reportsOf(stage, scene, feed)).filter(({ n }) => n > feed.uploads.length).toReversed();
    const isRead = found.length > 0 && found.every(({ ended_time }) => ended_time !== undefined);
    if ((isRead && (found.length >= times.length || found.length === before)) || performance.now() >= endMs) return found;
    before = isRead ? found.length : -1;
    await letTimePass(stage.servers, scene);
  }
}

async function playLate(stage: Stage, scene: Scene, due: DueFetches): Promise<string | undefined> {
  const { world } = scene;
  const { feed, fetch, times } = due;
  const found = await newUploads(stage, scene, due);
  if (found.length === 0 || found.length > times.length) return `feed ${feed.id} was fetched ${found.length} times, not at ${times}`;
  // The control API has deleted the older reports of uploads.
  for (let missing = (found[0]?.n ?? 0) - feed.uploads.length - 1; missing > 0; missing--)
    addFetched(world, feed, fetch.schedule.url, { isUpdate: fetch.isUpdate, id: undefined });
  for (const { n, started_time: time = 0, ended_time: ended = 0 } of found) {
    if (time < (times[0] ?? 0) || ended < time || ended > world.now)
      return `upload ${n} of feed ${feed.id} ran from ${time} to ${ended}, not at ${times}`;
    const fetched = { isUpdate: fetch.isUpdate, id: undefined, time, ended };
    const problem = await finishUpload(stage, scene, addFetched(world, feed, fetch.schedule.url, fetched));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Takes over the files that schedules have fetched until now. */
export async function playFetches(stage: Stage, scene: Scene): Promise<string | undefined> {
  const { world } = scene;
  for (const due of takeDueFetches(world)) {
    world.reach(due.fetch.isUpdate ? "scheduleUpdate" : "scheduleFetch");
    const problem = stage.servers.count === 1 ? await playExactly(stage, scene, due) : await playLate(stage, scene, due);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
