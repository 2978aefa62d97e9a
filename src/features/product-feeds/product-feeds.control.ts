/** The control routes that receive feed files and return the reports of uploads (operating.md: feeds/{id}/uploads). */
import { type Static, Type } from "typebox";
import { ALERTS_MAX, type Alert } from "#control-contract/alert";
import { badRequest, ControlError, notFound, unprocessable } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { bodyBytes, multipartFile } from "#control-contract/multipart-file";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { readSetting } from "#graph/contract/feature";
import { entryReader } from "#graph/worlds/file/entry-reader";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { isNodeId } from "#kernel/ids";
import { FeedFileProblem, feedFormats } from "./formats/rows.ts";
import { feedFileBytesMax } from "./ingestion/files.ts";
import { type UploadRow, uploadStatuses } from "./ingestion/upload.ts";
import { findUpload, listTroubledFeeds, listUploadsOfFeed, type UploadKey } from "./ingestion/uploads.store.ts";
import { receiveFile, receiveUrl } from "./ingestion/uploads.ts";
import { FETCHED_URL_CHARACTERS_MAX } from "./product-feeds.limits.ts";
import { findFeed } from "./product-feeds.store.ts";
import { addressProblem } from "./schedules/schedule.ts";

const format = Type.Unsafe<(typeof feedFormats)[number]>({ enum: [...feedFormats] });
const rowCount = (description: string) => Type.Integer({ minimum: 0, description });

const rowError = Type.Object({
  severity: Type.Optional(Type.Literal("warning", { description: "warning: the item of the row is kept without the wrong value" })),
  line: Type.Integer({ description: "the number of the line in the unpacked file; the first line is 1" }),
  retailer_id: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  reason: Type.String(),
});

const upload = Type.Object({
  feed: Type.String(),
  n: Type.Integer({ description: "the number of the upload; the first upload of a feed is 1" }),
  status: Type.Unsafe<string>({ enum: [...uploadStatuses], description: "done: the feed has the items of the file; failed: the feed is unchanged" }),
  source: Type.Unsafe<string>({ enum: ["file", "url"] }),
  url: Type.Optional(Type.String()),
  file_name: Type.Optional(Type.String()),
  format: Type.Optional(format),
  update_only: Type.Optional(Type.Literal(true, { description: "the items of the file are added to the items of the feed" })),
  bytes: Type.Integer({ description: "the size of the file, as it was sent or fetched" }),
  created_time: Type.Integer({ description: "Unix seconds" }),
  started_time: Type.Optional(Type.Integer({ description: "Unix seconds" })),
  ended_time: Type.Optional(Type.Integer({ description: "Unix seconds" })),
  rows: rowCount("all rows so far, good and bad"),
  items: rowCount("items that were read from the rows"),
  items_added: rowCount("items with a retailer_id that is new to the feed"),
  items_replaced: rowCount("items with a retailer_id that the feed already had"),
  items_removed: rowCount("items of the feed that are not in the file"),
  bad_rows: rowCount("rows that are not valid items"),
  duplicates: rowCount("rows that replaced an earlier row of the file"),
  problem: Type.Optional(Type.String({ description: "the reason why the file cannot be used" })),
  errors: Type.Array(rowError, { description: "the first hundred problems: bad rows, duplicates, repeated columns and omitted values" }),
});

type Upload = Static<typeof upload>;

async function findReport({ database: { reader } }: World, feed: string, n: number): Promise<Upload | undefined> {
  const row = await findUpload(reader, feed, n);
  return row === undefined ? undefined : reportOf(row);
}

function reportOf(row: UploadRow): Upload {
  const { feed, n, status, source, bytes, created_time, rows, items, items_added, items_replaced, items_removed, bad_rows, duplicates } = row;
  return {
    ...{ feed, n, status, source, bytes, created_time },
    ...(row.url === null ? {} : { url: row.url }),
    ...(row.file_name === null ? {} : { file_name: row.file_name }),
    ...(row.format === null ? {} : { format: row.format as Static<typeof format> }),
    ...(row.is_update === 1 ? { update_only: true } : {}),
    ...(row.started_time === 0 ? {} : { started_time: row.started_time }),
    ...(row.ended_time === 0 ? {} : { ended_time: row.ended_time }),
    ...{ rows, items, items_added, items_replaced, items_removed, bad_rows, duplicates },
    ...(row.problem === null ? {} : { problem: row.problem }),
    errors: JSON.parse(row.errors),
  };
}

const byUrl = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: FETCHED_URL_CHARACTERS_MAX,
      description: "the http or https address of the file; redirects are not followed",
    }),
    format: Type.Optional(format),
    update_only: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

const bytes = Type.String({ format: "binary" });

const uploadQuery = Type.Object({
  format: Type.Optional({ ...format, description: "the format of the file (default: detected from its beginning)" }),
  update_only: Type.Optional(Type.Boolean({ description: "whether items that are not in the file stay in the feed" })),
});
type UploadQuery = Static<typeof uploadQuery>;

/**
 * The longest time that a request may wait for the end of an upload: enough for a file of a million rows. A request for a longer wait is refused,
 * because a waiting request occupies a connection.
 */
const WITHIN_MS_MAX = 60_000;
const LOOK_MS = 25;
const readQuery = Type.Object({
  within_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WITHIN_MS_MAX,
      description: "the longest real time to wait for the end of the upload (default: 0)",
    }),
  ),
});

/** The greatest size of a JSON body that has the address of a file. A request body with the address of a file usually has a few hundred bytes. */
const URL_BODY_BYTES_MAX = 65_536;

async function feedOf({ world, path }: ControlRequest): Promise<string> {
  const id = path.id as string;
  if (!isNodeId(id) || (await findFeed(world.database.reader, id)) === undefined) throw notFound(`product feed ${id}`);
  return id;
}

async function uploadFile(controlRequest: ControlRequest<UploadQuery, Request>): Promise<unknown> {
  const { world, body: request, query } = controlRequest;
  const feed = await feedOf(controlRequest);
  const key = await receive(controlRequest, feed, request, query);
  const report = key === undefined ? undefined : await findReport(world, feed, key.n);
  if (report === undefined) throw notFound(`product feed ${feed}`);
  return report;
}

async function receive(
  { world }: ControlRequest,
  feed: string,
  request: Request,
  { format: asked, update_only = false }: UploadQuery,
): Promise<UploadKey | undefined> {
  const contentType = request.headers.get("content-type") ?? "";
  const { body } = request;
  if (body === null) throw badRequest("the body is empty: send a feed file, or JSON with the url of a feed file");
  if (Number(request.headers.get("content-length") ?? 0) > readSetting(world, feedFileBytesMax)) throw tooLarge(world);
  if (/^application\/json\b/i.test(contentType)) {
    const { url, format: named = asked, update_only: isUpdate = update_only } = entryReader(byUrl)(await jsonOf(request)) as Static<typeof byUrl>;
    checkUrl(world, url);
    return world.database.write((tx) => receiveUrl(tx, world, feed, url, { format: named, isUpdate }));
  }
  try {
    if (!/^multipart\//i.test(contentType)) return await receiveFile(world, feed, body, { format: asked, isUpdate: update_only });
    const { file_name, bytes } = await multipartFile(contentType, body);
    return await receiveFile(world, feed, bytes, { file_name, format: asked, isUpdate: update_only });
  } catch (error) {
    throw error instanceof FeedFileProblem ? tooLarge(world) : error;
  }
}

const tooLarge = (world: World) => new ControlError("body_too_large", `a feed file may have at most ${readSetting(world, feedFileBytesMax)} bytes`);

function checkUrl(world: ControlRequest["world"], url: string): void {
  const problem = addressProblem(world, url);
  if (problem !== undefined) throw unprocessable(problem, "url");
}

async function jsonOf(request: Request): Promise<unknown> {
  const bytes = await bodyBytes(request, URL_BODY_BYTES_MAX);
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    throw badRequest("the body is not valid JSON; send JSON lines as application/x-ndjson");
  }
}

async function readUpload(controlRequest: ControlRequest<Static<typeof readQuery>>): Promise<unknown> {
  const { world, path, query } = controlRequest;
  const { monotonicMs, sleepMs } = controlRequest.deps.realTime;
  const feed = await feedOf(controlRequest);
  const n = path.n as string;
  const until = monotonicMs() + (query.within_ms ?? 0);
  for (;;) {
    const report = /^[1-9]\d{0,14}$/.test(n) ? await findReport(world, feed, Number(n)) : undefined;
    if (report === undefined) throw notFound(`upload ${n} of the product feed ${feed}`);
    if (report.status === "done" || report.status === "failed" || monotonicMs() >= until) return report;
    await sleepMs(Math.min(LOOK_MS, Math.max(1, until - monotonicMs())));
  }
}

const UPLOADS = "/v1/worlds/{w}/feeds/{id}/uploads";

export const feedControlRoutes: readonly ControlRoute[] = [
  route(`POST ${UPLOADS}`, "uploadFeed", {
    summary:
      "Takes a feed file (CSV, TSV, RSS or Atom XML, JSON lines; optionally compressed with gzip), or the address of such a file, and reads the file in the background. At its end, the items of the file replace all items of the feed at once",
    query: uploadQuery,
    body: "file",
    content: { "application/octet-stream": bytes, "multipart/form-data": Type.Object({ file: bytes }), "application/json": byUrl },
    status: 201,
    response: upload,
    errors: [422],
    handle: (controlRequest) => uploadFile(controlRequest as ControlRequest<UploadQuery, Request>),
  }),
  route(`GET ${UPLOADS}`, "listFeedUploads", {
    summary: "Lists the last hundred uploads of a feed, the newest first",
    query: pageQuery,
    response: listOf(upload),
    handle: async (controlRequest) => {
      const feed = await feedOf(controlRequest);
      return respondWithList(controlRequest, `uploads ${feed}`, (page, world) => listUploadsOfFeed(world.database.reader, feed, page), reportOf);
    },
  }),
  route(`GET ${UPLOADS}/{n}`, "readFeedUpload", {
    summary: "Reads the report of an upload, while it runs or after its end",
    query: readQuery,
    response: upload,
    handle: readUpload,
  }),
];

/**
 * The time after which an upload whose file has not been read counts as stuck: fetching a file takes half an hour at most, and reading a file takes
 * some minutes.
 */
const STUCK_AFTER_SECONDS = 3_600;

const stuckText: Readonly<Record<string, string>> = {
  receiving: "the sender has not sent the whole file",
  pending: "the upload waits until earlier uploads end",
  running: "the file is being read",
};

/** Returns alerts for feeds whose last upload failed or is stuck. */
export const feedAlerts = async ({ database: { reader }, clock }: World): Promise<readonly Alert[]> =>
  (await listTroubledFeeds(reader, unixSeconds(clock) - STUCK_AFTER_SECONDS, ALERTS_MAX)).map(
    ({ feed, n, status, problem, created_time, ended_time }) =>
      status === "failed" || status === "done"
        ? {
            ...{ kind: "feed", level: "warning", of: feed, time: ended_time },
            text: `Upload ${n} of feed ${feed} failed: ${problem ?? "the file was not read to its end"}. The feed is unchanged.`,
          }
        : {
            ...{ kind: "feed", level: "error", of: feed, time: created_time },
            text: `Upload ${n} of feed ${feed} has not finished after more than an hour: ${stuckText[status]}. An alert about the upload's job, if there is one, says why.`,
          },
  );
