import { type TSchema, Type } from "typebox";
import { definePolicy, type Policy } from "#auth/policy";
import { catalogAccess, catalogFilling } from "#features/product-catalogs/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import type { UploadedFile } from "#graph/pipeline/request";
import { filledText, having } from "#graph/schema/schema-node";
import { utcText } from "#kernel/clock";
import { feedFormats } from "./formats/rows.ts";
import type { UploadRow } from "./ingestion/upload.ts";
import { type UploadErrorRow, uploadStatuses } from "./ingestion/upload.ts";
import type { ItemRow } from "./items.store.ts";
import { itemFields } from "./product-feeds.items.ts";
import { FEED_NAME_CHARACTERS_MAX, FETCHED_URL_CHARACTERS_MAX, REQUEST_BYTES_MAX } from "./product-feeds.limits.ts";
import type { FeedRow } from "./product-feeds.store.ts";
import { credentials, readSchedule, type ScheduleKind, scheduleParameter, scheduleWords } from "./schedules/schedule.ts";

/** AUTH-19, D-13: the policy for reading feeds and listing their items (G2). */
export const productFeed = definePolicy({
  ...catalogAccess,
  name: "productFeed",
  summary: "access to the feed's catalog: by a page task, by the catalog's business, or by an agency with which the catalog is shared",
  scopes: ["catalog_management"],
});

const text: Field<ItemRow> = { schema: Type.String(), policy: productFeed };

const numberFields: Readonly<Record<string, Field<ItemRow>>> = {
  user_rating: { schema: Type.Number(), policy: productFeed },
  rating_count: { schema: Type.Integer(), policy: productFeed },
};

/**
 * D-56: the fields of an item. The interface's document does not define the fields of an item. A request without `fields` gets the fields that every
 * item has. A price is a text with a decimal number, because a binary float could change its digits. A date is written in ISO 8601, as in the feed.
 */
const articleOrPublication: FieldSet<ItemRow> = {
  fields: { id: text, ...Object.fromEntries(itemFields.map((field) => [field, numberFields[field] ?? text])) },
  defaults: ["id", "retailer_id", "name", "image_url", "url"],
};

const oneOf = (values: readonly string[]): TSchema => Type.Unsafe<string>({ enum: [...values] });
const orAbsent = (value: string | null): string | undefined => value ?? undefined;

/** D-147: the fields of an upload. */
function uploadSet(policy: Policy): FieldSet<UploadRow> {
  const plain = (schema: TSchema): Field<UploadRow> => ({ schema, policy });
  const text = plain(Type.String());
  const count = plain(Type.Integer());
  const time = (secondsOf: (row: UploadRow) => number): Field<UploadRow> => ({
    ...text,
    of: (row) => (secondsOf(row) === 0 ? undefined : utcText(secondsOf(row))),
  });
  return {
    fields: {
      id: text,
      start_time: time((row) => row.started_time),
      end_time: time((row) => row.ended_time),
      status: plain(oneOf(uploadStatuses)),
      input_method: { ...plain(oneOf(["Manual Upload", "Server Fetch"])), of: ({ source }) => (source === "url" ? "Server Fetch" : "Manual Upload") },
      url: { ...text, of: ({ url }) => orAbsent(url) },
      filename: { ...text, of: ({ file_name }) => orAbsent(file_name) },
      format: { ...plain(oneOf(feedFormats)), of: ({ format }) => orAbsent(format) },
      update_only: { ...plain(Type.Boolean()), of: ({ is_update }) => is_update === 1 },
      num_detected_items: { ...count, of: ({ rows }) => rows },
      num_persisted_items: { ...count, of: ({ items }) => items },
      num_invalid_items: { ...count, of: ({ bad_rows }) => bad_rows },
      num_deleted_items: { ...count, of: ({ items_removed }) => items_removed },
      /** The number of bad rows, plus 1 if the file as a whole cannot be used. */
      error_count: { ...count, of: ({ bad_rows, problem }) => bad_rows + (problem === null ? 0 : 1) },
    },
    defaults: ["id", "start_time", "end_time"],
  };
}

export const uploadNode = uploadSet(productFeed);

const ofError = (schema: TSchema): Field<UploadErrorRow> => ({ schema, policy: productFeed });

const uploadError: FieldSet<UploadErrorRow> = {
  fields: {
    severity: ofError(oneOf(["fatal", "warning"])),
    summary: ofError(Type.String()),
    /** The number of the row's line in the unpacked file; the first line is 1. */
    row_number: ofError(Type.Integer()),
    retailer_id: ofError(Type.String()),
    field: ofError(oneOf(itemFields)),
  },
  defaults: ["severity", "summary", "row_number", "retailer_id", "field"],
};

/**
 * Returns the fields of a schedule. `policy` is the policy of the operation that returns the feed, because a caller who may send files to a feed may
 * also read the feed's schedules.
 */
const scheduleSet = (policy: Policy): FieldSet => ({
  fields: Object.fromEntries(Object.entries(scheduleWords).map(([name, schema]): [string, Field] => [name, { schema, policy }])),
  defaults: Object.keys(scheduleWords),
});

function scheduleField(kind: ScheduleKind, policy: Policy): Field<FeedRow> {
  const set = scheduleSet(policy);
  return {
    schema: Type.Object({}),
    policy,
    nested: { set: () => set, load: async (_request, _reader, rows) => rows.map((row) => readSchedule(row[kind])) },
  };
}

function latestUpload(policy: Policy): Field<FeedRow> {
  const set = uploadSet(policy) as FieldSet;
  return {
    schema: Type.Object({}),
    policy,
    nested: {
      type: "product_feed_upload",
      set: () => set,
      load: ({ world }, reader, rows) => world.ports.get("product_feed").findLatestUploads(reader, rows),
    },
  };
}

/** D-145, D-146: the fields of a feed. */
function feedSet(policy: Policy): FieldSet<FeedRow> {
  const text: Field<FeedRow> = { schema: Type.String(), policy };
  return {
    fields: {
      id: text,
      name: text,
      product_count: { schema: Type.Integer(), policy, of: (row) => row.item_count },
      schedule: scheduleField("schedule", policy),
      update_schedule: scheduleField("update_schedule", policy),
      latest_upload: latestUpload(policy),
    },
    defaults: ["id", "name"],
  };
}

export const feedNode = feedSet(productFeed);

const access = {
  clauses: [],
  decisions: ["D-145"],
  surfaces: ["base"],
  versions: "marketing",
  scheme: "anywhere",
  policy: productFeed,
  errorForm: "wrapped",
  errors: ["versionDeprecated"],
} as const satisfies Access;

export const readFeed = { ...access, operation: "readFeed" } as const;

export const listFeeds = listOperation({
  ...access,
  operation: "listFeeds",
  summary: "Lists the product feeds of a catalog, newest first (D-145).",
  on: "product_catalog",
  edge: "product_feeds",
  params: Type.Object({}),
  items: feedNode,
  itemType: "product_feed",
});

const name = Type.String({ ...filledText(FEED_NAME_CHARACTERS_MAX), description: "the feed's name" });
const schedules = {
  schedule: scheduleParameter("the times at which Plaza fetches a file that replaces all items; null or an empty text ends the schedule"),
  update_schedule: scheduleParameter("the times at which Plaza fetches a file that adds and changes items; null or an empty text ends the schedule"),
};

const writing = {
  ...access,
  policy: catalogFilling,
  method: "POST",
  readBack: { type: "product_feed", set: feedSet(catalogFilling) as FieldSet },
  errors: ["versionDeprecated", "invalidParameter"],
} as const;

export const createFeed = writeOperation({
  ...writing,
  operation: "createFeed",
  decisions: ["D-146"],
  summary: "Creates a product feed in a catalog, optionally with schedules by which Plaza fetches its file (D-146).",
  on: "product_catalog",
  edge: "product_feeds",
  params: Type.Object({ name, ...schedules }),
  returns: Type.Object({ id: Type.String() }),
});

export const updateFeed = writeOperation({
  ...writing,
  operation: "updateFeed",
  decisions: ["D-146"],
  summary: "Changes the name or a schedule of a product feed; an empty value ends the schedule (D-146).",
  on: "product_feed",
  edge: null,
  params: Type.Object({ name: Type.Optional(name), ...schedules }),
  returns: Type.Object({ success: Type.Boolean() }),
});

export const deleteFeedOperation = writeOperation({
  ...access,
  policy: catalogFilling,
  operation: "deleteFeed",
  decisions: ["D-146"],
  summary: "Deletes a product feed with its items and uploads (D-146).",
  on: "product_feed",
  method: "DELETE",
  edge: null,
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
});

export const listArticlesAndPublications = listOperation({
  ...access,
  operation: "listArticlesAndPublications",
  summary: "Lists the article and publication items that a product feed ingested, newest first.",
  clauses: [
    ...["G2-1", "G2-4", "G2-5", "G2-6", "G2-7", "G2-8", "G2-9", "G2-10", "G2-11", "G2-12", "G2-13"],
    // The edge `articles_and_publications` has only the operation that lists items, so Plaza refuses requests that create, update or delete items.
    ...["G2-14", "G2-15", "G2-16"],
    "AUTH-19",
  ],
  decisions: ["D-13", "D-56", "D-140", "D-141", "D-142", "D-143"],
  on: "product_feed",
  edge: "articles_and_publications",
  params: Type.Object({ summary: Type.Optional(Type.Boolean({ description: "whether the response also has the number of all items" })) }),
  items: articleOrPublication,
  extras: Type.Object({ summary: Type.Object({ total_count: Type.Integer() }, { additionalProperties: false }) }),
});

const uploading = { ...access, decisions: ["D-147"] } as const satisfies Access;

export const readUpload = { ...uploading, operation: "readUpload" } as const;

export const listUploads = listOperation({
  ...uploading,
  operation: "listUploads",
  summary: "Lists the last hundred uploads of a product feed, newest first (D-147).",
  on: "product_feed",
  edge: "uploads",
  params: Type.Object({}),
  items: uploadNode,
  itemType: "product_feed_upload",
});

export const listUploadErrors = listOperation({
  ...uploading,
  operation: "listUploadErrors",
  summary: "Lists the problems in the file of an upload: first the problems of the whole file, then the first hundred problems of its rows (D-147).",
  on: "product_feed_upload",
  edge: "errors",
  params: Type.Object({}),
  items: uploadError,
});

export const createUpload = writeOperation({
  ...uploading,
  policy: catalogFilling,
  decisions: ["D-147", "D-148"],
  operation: "createUpload",
  summary: "Receives a feed file, as `file` of multipart/form-data or by its address, and reads the file in the background (D-147).",
  on: "product_feed",
  method: "POST",
  edge: "uploads",
  multipartBytesMax: REQUEST_BYTES_MAX,
  params: Type.Object(
    {
      file: Type.Optional(Type.Unsafe<UploadedFile>({ format: "binary", description: "the feed file, as a file of multipart/form-data" })),
      url: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: FETCHED_URL_CHARACTERS_MAX,
          description: "the address of the feed file; send either `url` or `file`",
          format: "web-address",
        }),
      ),
      update_only: Type.Optional(Type.Boolean({ description: "whether items that are not in the file stay in the feed" })),
      ...credentials,
    },
    { anyOf: [having("file"), having("url")], not: having("file", "url") },
  ),
  returns: Type.Object({ id: Type.String() }),
  errors: ["versionDeprecated", "invalidParameter", "edgeRateLimited"],
});
