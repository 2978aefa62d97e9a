import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import { catalogFilling } from "#features/product-catalogs/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import { asked, filledText } from "#graph/schema/asked";
import type { ItemRow } from "./items.store.ts";
import { FEED_NAME_CHARACTERS_MAX } from "./product-feeds.limits.ts";
import { productFeed } from "./product-feeds.policies.ts";
import type { FeedRow } from "./product-feeds.store.ts";
import { scheduleParameter } from "./schedules/parameters.ts";
import { readSchedule, type ScheduleKind, scheduleWords } from "./schedules/schedule.ts";
import { uploadSet } from "./uploads/uploads.contract.ts";

const text: Field<ItemRow> = { schema: Type.String(), policy: productFeed };
const number: Field<ItemRow> = { schema: Type.Number(), policy: productFeed };
const count: Field<ItemRow> = { schema: Type.Integer(), policy: productFeed };

/** D-56: the document defines no fields. The default fields are those that every item has. */
const articleOrPublication: FieldSet<ItemRow> = {
  fields: {
    id: text,
    retailer_id: text,
    name: text,
    image_url: text,
    url: text,
    description: text,
    /** A decimal as text, so that no price passes through a binary float. */
    price: text,
    sale_price: text,
    currency: text,
    brand: text,
    publication_category: text,
    /** ISO 8601, as in the feed. */
    date_published: text,
    author: text,
    genre: text,
    in_language: text,
    user_rating: number,
    rating_count: count,
    availability: text,
    custom_label_0: text,
    custom_label_1: text,
    custom_label_2: text,
    custom_label_3: text,
    custom_label_4: text,
  },
  defaults: ["id", "retailer_id", "name", "image_url", "url"],
};

/** A field's policy is that of the operation that returns the feed: those who fill a feed may read it too. */
const scheduleSet = (policy: Policy): FieldSet => ({
  fields: Object.fromEntries(Object.entries(scheduleWords).map(([name, schema]): [string, Field] => [name, { schema, policy }])),
  defaults: Object.keys(scheduleWords),
  unserved: unservedFields.product_feed_schedule,
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

/** D-145, D-146. */
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
    unserved: unservedFields.product_feed,
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

const name = Type.String({ maxLength: FEED_NAME_CHARACTERS_MAX, description: "the feed's name", ...asked(filledText(FEED_NAME_CHARACTERS_MAX)) });
const schedules = {
  schedule: scheduleParameter("when the file is fetched that replaces all items; null or an empty text ends it"),
  update_schedule: scheduleParameter("when the file is fetched that adds and changes items; null or an empty text ends it"),
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
  summary: "Changes the name or a schedule of a product feed; an empty schedule ends it (D-146).",
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
  operation: "listArticlesAndPublications",
  summary: "Lists the article and publication items that a product feed ingested, newest first.",
  clauses: [
    ...["G2-1", "G2-4", "G2-5", "G2-6", "G2-7", "G2-8", "G2-9", "G2-10", "G2-11", "G2-12", "G2-13"],
    // The edge has only this method, so creating, updating and deleting are unsupported.
    ...["G2-14", "G2-15", "G2-16"],
    "AUTH-19",
  ],
  decisions: ["D-13", "D-56", "D-140", "D-141", "D-142", "D-143"],
  surfaces: ["base"],
  versions: "marketing",
  scheme: "anywhere",
  policy: productFeed,
  errorForm: "wrapped",
  on: "product_feed",
  edge: "articles_and_publications",
  params: Type.Object({ summary: Type.Optional(Type.Boolean({ description: "true: also the number of all items" })) }),
  items: articleOrPublication,
  extras: Type.Object({ summary: Type.Object({ total_count: Type.Integer() }, { additionalProperties: false }) }),
  errors: ["versionDeprecated"],
});
