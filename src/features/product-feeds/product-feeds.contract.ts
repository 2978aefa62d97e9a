import { Type } from "typebox";
import { type Access, type Field, type FieldSet, listOperation } from "#graph/contract/operation";
import type { ItemRow } from "./items.store.ts";
import { productFeed } from "./product-feeds.policies.ts";
import type { FeedRow } from "./product-feeds.store.ts";

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

const textOfFeed: Field<FeedRow> = { schema: Type.String(), policy: productFeed };

/** D-145. */
export const feedNode: FieldSet<FeedRow> = {
  fields: { id: textOfFeed, name: textOfFeed, product_count: { schema: Type.Integer(), policy: productFeed, of: (row) => row.item_count } },
  defaults: ["id", "name"],
};

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
  params: Type.Object({ summary: Type.Optional(Type.Boolean()) }),
  items: articleOrPublication,
  extras: Type.Object({ summary: Type.Object({ total_count: Type.Integer() }, { additionalProperties: false }) }),
  errors: ["versionDeprecated"],
});
