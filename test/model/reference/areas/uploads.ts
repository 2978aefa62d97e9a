/** Files for product feeds, the items of a feed after the file was read, and the reports of uploads (D-140, D-141, D-147, D-148). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape, select } from "../fields.ts";
import { rowsAt } from "../files.ts";
import { replyWithList } from "../lists.ts";
import type { Feed, Upload } from "../nodes.ts";
import { isSelection, readSelection, type Turn } from "../operations.ts";
import { isId } from "../paths.ts";
import { anyText, Hole, type Reply, success } from "../replies.ts";
import { type FeedRow, parameter } from "../requests.ts";
import { isFetchable } from "../schedules.ts";
import type { World } from "../world.ts";
import { time } from "./tagged-media.ts";

type Item = Readonly<Record<string, string>>;

/** D-142: the number of uploads of a feed that the server keeps. Older uploads of a feed are deleted. */
const UPLOADS_KEPT = 100;

export const itemOf = ({ retailer_id, name, brand }: FeedRow): Item => ({
  ...{ retailer_id, name, image_url: "https://example.com/i.png", url: `https://example.com/${retailer_id.codePointAt(0)}` },
  ...(brand === "" ? {} : { brand }),
});

interface File {
  readonly rows: readonly FeedRow[] | null;
  readonly isUpdate: boolean;
}

interface Fetched {
  readonly isUpdate: boolean;
  readonly id: string | undefined;
  readonly time?: number;
  readonly ended?: number;
}

/** The items that the feed has after the file; undefined if the file leaves the feed unchanged. */
function itemsAfter({ items: before }: Feed, { rows, isUpdate }: File): Map<string, Item> | undefined {
  if (rows === null) return undefined;
  const good = rows.filter(({ name }) => name !== "").map(itemOf);
  // An upload of a file without a good row fails; a file without any rows makes an empty feed.
  if (good.length === 0 && rows.length > 0) return undefined;
  // D-141: an item with a bad row is not in the feed, even if an earlier file had a good row for it.
  const after = new Map<string, Item>(isUpdate ? before : []);
  for (const item of good) after.set(item.retailer_id ?? "", item);
  return after;
}

/**
 * The errors in the rows of the file. A row without a name is bad. Of two good rows with one id, the later row counts, with a warning. The header of
 * the file is line 1.
 */
function errorsIn(rows: readonly FeedRow[]): Upload["errors"] {
  return rows.flatMap(({ name, retailer_id }, place) => {
    const row = { summary: anyText, row_number: place + 2, retailer_id };
    if (name === "") return [{ ...row, severity: "fatal", field: "name" }];
    const isRepeated = rows.slice(0, place).some((earlier) => earlier.name !== "" && earlier.retailer_id === retailer_id);
    return isRepeated ? [{ ...row, severity: "warning", field: "retailer_id" }] : [];
  });
}

/** Adds an upload to the list of the feed's uploads. The items of the feed change when the server has read the file. */
export function addUpload(
  world: World,
  feed: Feed,
  file: File,
  more: Pick<Upload, "id" | "filename" | "format" | "url" | "ended"> & { readonly time?: number },
): Upload {
  const { rows, isUpdate } = file;
  const after = itemsAfter(feed, file);
  const whole = after === undefined ? [{ severity: "fatal", summary: anyText }] : [];
  const good = (rows ?? []).filter(({ name }) => name !== "");
  const upload: Upload = {
    ...{ time: world.now, ...more, n: feed.uploads.length + 1, feed: feed.id, isUpdate, after },
    ...{ rows: rows?.length ?? 0, bad: (rows?.length ?? 0) - good.length, items: new Set(good.map(({ retailer_id }) => retailer_id)).size },
    removed: after === undefined ? 0 : [...feed.items.keys()].filter((id) => !after.has(id)).length,
    errors: [...whole, ...errorsIn(rows ?? [])],
  };
  feed.uploads.push(upload);
  const { id: forgotten } = feed.uploads.at(-1 - UPLOADS_KEPT) ?? {};
  if (forgotten !== undefined) world.uploads.delete(forgotten);
  if (upload.id !== undefined) world.uploads.set(upload.id, upload);
  return upload;
}

/** Adds an upload for a file that the server fetched; it is treated like a file that was sent. */
export function addFetched(world: World, feed: Feed, url: string, fetched: Fetched): Upload {
  const { isUpdate, ...more } = fetched;
  const rows = rowsAt(url);
  world.reach(rows === undefined ? "uploadUnfetched" : "uploadFetched");
  const format = rows === undefined ? undefined : rows === null ? "xml" : "csv";
  return addUpload(world, feed, { rows: rows ?? null, isUpdate }, { ...more, url, format });
}

/** Expects the id of an upload. The control API does not return the id of an upload, so the model takes it from the first list of uploads. */
const learned = (world: World, upload: Upload): Hole =>
  new Hole("the id of an upload", (actual) => {
    if (upload.id !== undefined) return actual === upload.id ? undefined : `it is ${JSON.stringify(actual)}, and was ${upload.id}`;
    if (typeof actual !== "string" || !isId(actual) || world.idsSeen.has(actual)) return `${JSON.stringify(actual)} is not a new id`;
    upload.id = actual;
    world.idsSeen.add(actual);
    world.uploads.set(actual, upload);
    return undefined;
  });

const names = [
  ...["id", "start_time", "end_time", "status", "input_method", "url", "filename", "format", "update_only"],
  ...["num_detected_items", "num_persisted_items", "num_invalid_items", "num_deleted_items", "error_count"],
];
export const shape: Shape = { ...objectShape(...names), defaults: ["id", "start_time", "end_time"], always: ["id"] };
const errorShape = objectShape("severity", "summary", "row_number", "retailer_id", "field");

function shown(world: World, upload: Upload): unknown {
  const { after, time: at, ended = at, url, filename, format, isUpdate, rows, items, bad, removed } = upload;
  return {
    ...{ id: learned(world, upload), start_time: time(at), end_time: time(ended), status: after === undefined ? "failed" : "done", format },
    ...{
      input_method: url === undefined ? "Manual Upload" : "Server Fetch",
      url,
      filename,
      update_only: isUpdate,
      num_detected_items: rows,
      num_persisted_items: items,
    },
    ...{ num_invalid_items: bad, num_deleted_items: removed, error_count: bad + (after === undefined ? 1 : 0) },
  };
}

export function latestOf(world: World, { uploads }: Feed): unknown {
  const latest = uploads.at(-1);
  return latest === undefined ? undefined : shown(world, latest);
}

export function listUploads(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const kept = (world.product_feeds.get(node) as Feed).uploads.slice(-UPLOADS_KEPT);
  const rows = kept.map((upload) => ({ key: BigInt(upload.n), value: shown(world, upload) }));
  return replyWithList(turn, { list: `listUploads ${node}`, rows, shape });
}

export function readUpload(turn: Turn): Reply {
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(shown(turn.world, turn.world.uploads.get(turn.node) as Upload), shape, selection)) : selection;
}

/** Lists all errors of an upload, those of the file's first row first, because lists show the largest key first. */
export function listUploadErrors(turn: Turn): Reply | Failure[] {
  const { errors } = turn.world.uploads.get(turn.node) as Upload;
  if (errors.length > 0) turn.world.reach("uploadErrors");
  const rows = errors.map((value, place) => ({ key: BigInt(errors.length - place), value }));
  return replyWithList(turn, { list: `listUploadErrors ${turn.node}`, rows, shape: errorShape });
}

export function createUpload({ world, node, request, fail, mint }: Turn): Reply {
  const file = request.body?.file;
  const given = parameter(request, "update_only");
  const isUpdate = given === true || ["true", "1"].includes(String(given));
  const isFlag = given === undefined || isUpdate || ["false", "0"].includes(String(given)) || given === false;
  const url = parameter(request, "url");
  const isWrong = file === undefined ? !isFetchable(url) : url !== undefined;
  if (isWrong || !isFlag || parameter(request, "username") !== undefined) {
    world.reach("uploadRefused");
    return fail("invalidParameter");
  }
  const feed = world.product_feeds.get(node) as Feed;
  if (file === undefined) {
    world.reading = addFetched(world, feed, String(url), { isUpdate, id: mint() });
    return success({ id: world.reading.id });
  }
  world.reach("uploaded");
  const { rows, filename } = file;
  const format = rows === null ? "xml" : "csv";
  const upload = addUpload(world, feed, { rows, isUpdate }, { id: mint(), filename, format });
  world.reading = upload;
  return success({ id: upload.id });
}
