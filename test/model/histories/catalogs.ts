/** Draws steps about catalogs, feeds, and the files that fill feeds, in marketing versions. */
import fc, { type Arbitrary } from "fast-check";
import type { FeedFile } from "../reference/requests.ts";
import { body, callers, fields, list, node, oneOf, request, text, world } from "./drawing.ts";
import type { FeedFileStep, NodeName, RequestStep, Step, Value } from "./steps.ts";

const version: Arbitrary<string | null> = oneOf<string | null>(
  [12, fc.constant("v25.0")],
  [6, fc.constantFrom("v24.0", "v23.0", "v20", "v22.0")],
  [1, fc.constantFrom("v26.0", null, "v99.0")],
);
const people = ["ada-user", "ada-user", "ada-user", "old-ada-user", "stubborn-ada-user", "other-ada-user", "new-ada-user"];
const tokens = callers("any", [...people, "cafe-page", "ben-user-without-messaging", "cleo-user-without-role", "ada-system-user", "biz-user"]);
const catalog: Arbitrary<NodeName> = oneOf<NodeName>([3, fc.constant({ id: "8001" })], [4, node("product_catalog")]);
const feed: Arbitrary<NodeName> = oneOf<NodeName>([12, fc.constant({ id: "8101" })], [6, node("product_feed")], [1, node("feed_item")]);
const page: Arbitrary<NodeName> = fc.constantFrom("2001", "2001", "pages/2001", "2002", "me").map((id) => ({ id }));

const name: Arbitrary<Value> = oneOf<Value>([8, text(20)], [1, fc.constantFrom<Value>("", "  ", "x".repeat(200), "x".repeat(201), undefined, 12)]);
const maybe = (value: Arbitrary<Value>, weight = 4): Arbitrary<Value> => oneOf<Value>([weight, fc.constant(undefined)], [1, value]);
const tasks = fc.constantFrom<Value>(["240588526848665"], ["2015469438531460"], ["240588526848665", "2015469438531460"], [], ["1"], undefined);
const agency = fc.record({ business_id: fc.constantFrom<Value>("3502", "3502", "3501", "9999999", undefined), permitted_tasks: tasks });

const creation = callers("header", people);
/** D-12: the query may carry the token only while the app is in development. */
const inQuery = fc.constantFrom({ access_token: "new-ada-user" }, { access_token: "ada-user" });

/** Shares a catalog of the page's business with an agency (D-144), and uses the catalog and its feeds as a person of the agency. */
const sharing: Arbitrary<Step> = request({
  ...{
    operation: "createCatalog",
    method: "POST",
    surface: "ads",
    version: "v25.0",
    node: fc.constant({ id: "2001" }),
    edge: "owned_product_catalogs",
  },
  tokens: fc.constant({ header: "ada-user" }),
  body: body({
    ...{ name: fc.constant("Shared"), business_id: fc.constant("3501") },
    business_metadata: tasks.map((permitted_tasks) => ({ agency: { business_id: "3502", permitted_tasks } })),
  }),
});
const ofAgency = {
  version: "v25.0",
  node: fc.integer({ min: -2, max: -1 }).map((pick): NodeName => ({ type: "product_catalog", pick })),
  tokens: fc.constant({ header: "cleo-user-without-role" }),
} as const;
const byAgency: Arbitrary<Step> = oneOf<Step>(
  [2, request({ operation: "readCatalog", method: "GET", edge: "", ...ofAgency })],
  [2, request({ operation: "createFeed", method: "POST", edge: "product_feeds", ...ofAgency, body: body({ name: fc.constant("By an agency") }) })],
  [1, list({ operation: "listFeeds", edge: "product_feeds", ...ofAgency }, {})],
  [1, request({ operation: "deleteCatalog", method: "DELETE", edge: "", ...ofAgency })],
  [1, request({ operation: "deleteFeed", method: "DELETE", edge: "", ...ofAgency, node: feed })],
);

/** Lists of so many rows that they fill pages of the usual size, and pages of the greatest size. */
const many = fc.constant(Array.from({ length: 130 }, (_, place) => ({ retailer_id: `many-${place}`, name: "One of many", brand: "" })));

const rows: Arbitrary<FeedFile["rows"]> = oneOf<FeedFile["rows"]>(
  [
    8,
    fc.array(
      fc.record({
        retailer_id: fc.constantFrom("b1", "b2", "b3", "b4", "ü5"),
        name: oneOf([4, fc.constantFrom("A book", 'Ein Büch, "neu"', "😀")], [1, fc.constant("")]),
        brand: fc.constantFrom("", "Own"),
      }),
      { maxLength: 4 },
    ),
  ],
  [1, fc.constant(null)],
);

/** An address that serves a feed file, another file, or nothing. */
const address: Arbitrary<Value> = oneOf<Value>([3, rows.map((of) => ({ $file: of }))], [1, fc.constant({ $file: undefined })]);

const rightSchedule: Arbitrary<Value> = fc
  .record({
    interval: fc.constantFrom<Readonly<Record<string, Value>>>(
      ...[
        { interval: "HOURLY" },
        { interval: "HOURLY", interval_count: 6 },
        { interval: "HOURLY", interval_count: 12 },
        { interval: "DAILY" },
        { interval: "DAILY" },
      ],
      ...[{ interval: "DAILY", interval_count: 2 }, { interval: "WEEKLY" }, { interval: "MONTHLY" }],
    ),
    url: address,
    more: fc.record({
      hour: fc.constantFrom<Value>(undefined, 0, 9, 23),
      minute: fc.constantFrom<Value>(undefined, 0, 30, 59),
      day_of_week: fc.constantFrom<Value>(undefined, "THURSDAY", "FRIDAY", "SUNDAY"),
      day_of_month: fc.constantFrom<Value>(undefined, 18, 19, 31),
      timezone: fc.constantFrom<Value>(undefined, undefined, "UTC", "Asia/Kolkata"),
    }),
  })
  .map(({ interval, url, more }) => ({ ...interval, url, ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)) }));
const wrongSchedule = fc.constantFrom<Value>(
  ...[
    { interval: "DAILY" },
    { url: { $file: [] } },
    { interval: "SOMETIMES", url: { $file: [] } },
    { interval: "DAILY", url: "ftp://example.com/x" },
  ],
  ...[{ hour: 24 }, { minute: -1 }, { interval_count: 0 }, { day_of_month: 32 }, { day_of_week: "SOMEDAY" }, { timezone: "Mars/Olympus" }].map(
    (wrong) => ({ interval: "DAILY", url: { $file: [] }, ...wrong }),
  ),
  ...[{ interval: "DAILY", url: { $file: [] }, username: "ada" }, "daily"],
);
/** A schedule. A feed has one schedule at a time, so that its items do not depend on which of two files of the same moment is read first. */
const schedules: Arbitrary<Readonly<Record<string, Value>>> = oneOf<Readonly<Record<string, Value>>>(
  [4, rightSchedule.map((schedule) => ({ schedule, update_schedule: "" }))],
  [3, rightSchedule.map((update_schedule) => ({ update_schedule, schedule: "" }))],
  [1, fc.constantFrom<Readonly<Record<string, Value>>>({ schedule: "" }, { schedule: null, update_schedule: null })],
  [1, wrongSchedule.map((schedule) => ({ schedule }))],
);
const scheduling = (
  step: Omit<Parameters<typeof request>[0], "body" | "method" | "tokens">,
  beside: Readonly<Record<string, Value>>,
): Arbitrary<Step> =>
  request({
    ...{ ...step, method: "POST", tokens: creation },
    body: fc.tuple(body({}), schedules).map(([notation, drawn]) => ({ ...notation, fields: { ...beside, ...drawn } })),
  });
/** A move of the clock over hundreds of fetches, some of them of a file that is fetched each hour. */
const longMove: Arbitrary<Step> = fc.record({
  ...{ kind: fc.constant("advance" as const), world, seconds: fc.constantFrom(8 * 86_400, 20 * 86_400) },
  within_ms: fc.constantFrom(50, 60_000),
});
const scheduled: Arbitrary<Step> = oneOf<Step>(
  [1, scheduling({ operation: "createFeed", version: "v25.0", node: catalog, edge: "product_feeds" }, { name: "Fetched" })],
  [2, scheduling({ operation: "updateFeed", version: "v25.0", node: feed, edge: "" }, {})],
  [
    1,
    fc.record({
      ...{ kind: fc.constant("advance" as const), world },
      seconds: fc.constantFrom(3_600, 86_400, 86_400, 2 * 86_400, 3 * 86_400),
    }),
  ],
  [1, longMove],
);

const ofFeed = fields(
  ...["id", "name", "product_count", "schedule", "update_schedule{interval,hour,url}", "schedule{timezone,day_of_month}"],
  ...["latest_upload", "latest_upload{status,input_method,url}"],
);
const upload: Arbitrary<NodeName> = node("product_feed_upload");
const shownOfUpload = fields(
  ...["id", "status", "start_time", "end_time", "url", "input_method", "filename", "format", "update_only"],
  ...["num_detected_items", "num_persisted_items", "num_invalid_items", "num_deleted_items", "error_count"],
);
/** A file that is sent in a form, or a text instead of a file. */
const sent = oneOf<NonNullable<RequestStep["body"]>>(
  [
    8,
    fc.record({ rows, updateOnly: maybe(fc.constantFrom<Value>("true", "1", "false", "maybe")) }).map(({ rows: of, updateOnly }) => ({
      ...{ kind: "multipart" as const, fields: { update_only: updateOnly }, file: { filename: "books.csv", rows: of } },
    })),
  ],
  [2, body({ file: fc.constantFrom("as text", undefined), url: fc.constantFrom(undefined, "ftp://example.com/x") })],
  [
    4,
    body({
      ...{ url: address, update_only: maybe(fc.constantFrom<Value>("true", false, "maybe")) },
      username: oneOf<Value>([8, fc.constant(undefined)], [1, fc.constant("ada")]),
    }),
  ],
);
const uploading: Arbitrary<Step> = oneOf<Step>(
  [3, request({ operation: "createUpload", method: "POST", version: "v25.0", node: feed, edge: "uploads", tokens: creation, body: sent })],
  [1, request({ operation: "createUpload", method: "POST", version, node: feed, edge: "uploads", tokens, body: sent })],
  [2, list({ operation: "listUploads", version, node: feed, edge: "uploads", tokens }, { fields: shownOfUpload })],
  [4, request({ operation: "readUpload", method: "GET", version, node: upload, edge: "", tokens, query: fc.record({ fields: shownOfUpload }) })],
  [
    4,
    list(
      { operation: "listUploadErrors", version, node: upload, edge: "errors", tokens },
      { fields: fields("severity", "summary", "row_number", "retailer_id", "field") },
    ),
  ],
);

const feedFile = (drawn: { readonly [Name in "feed" | "updateOnly" | "rows"]: Arbitrary<FeedFileStep[Name]> }): Arbitrary<FeedFileStep> =>
  fc.record({ kind: fc.constant("feed file" as const), world, ...drawn });

/** A file with more rows than one page of a list shows. */
export const manyRows: Arbitrary<FeedFileStep> = feedFile({ feed: fc.constant({ id: "8101" }), updateOnly: fc.constant(true), rows: many });

export const catalogSteps: Arbitrary<Step> = oneOf<Step>(
  [
    5,
    request({
      ...{ operation: "createCatalog", method: "POST", surface: "ads", version, node: page, edge: "owned_product_catalogs" },
      tokens: oneOf([8, creation], [1, inQuery]),
      body: body({
        ...{ name, vertical: maybe(fc.constantFrom("commerce", "hotels")) },
        business_id: maybe(fc.constantFrom<Value>("3501", "3501", "3502", "9999999"), 1),
        business_metadata: maybe(fc.record({ agency, external_business_id: maybe(fc.constant("x-1")) }), 1),
      }),
    }),
  ],
  [8, uploading],
  [6, scheduled],
  [4, sharing],
  [6, byAgency],
  [
    3,
    request({
      ...{ operation: "readCatalog", method: "GET", version, node: catalog, edge: "", tokens },
      query: fc.record({ fields: fields("id", "name", "vertical") }),
    }),
  ],
  [1, request({ operation: "deleteCatalog", method: "DELETE", version, node: node("product_catalog"), edge: "", tokens })],
  [2, list({ operation: "listFeeds", version, node: catalog, edge: "product_feeds", tokens }, { fields: ofFeed })],
  [3, request({ operation: "createFeed", method: "POST", version, node: catalog, edge: "product_feeds", tokens, body: body({ name }) })],
  [
    2,
    request({
      ...{ operation: "readFeed", method: "GET", version, node: feed, edge: "", tokens },
      query: fc.record({ fields: ofFeed }),
    }),
  ],
  [
    1,
    request({
      operation: "updateFeed",
      method: "POST",
      version,
      node: feed,
      edge: "",
      tokens,
      body: body({ name, schedule: maybe(fc.constant("")) }),
    }),
  ],
  [1, request({ operation: "deleteFeed", method: "DELETE", version, node: node("product_feed"), edge: "", tokens })],
  [
    4,
    list(
      { operation: "listArticlesAndPublications", version, node: feed, edge: "articles_and_publications", tokens },
      { fields: fields("id", "retailer_id", "name", "brand", "price"), summary: maybe(fc.constantFrom<Value>("true", "1", "false", "much"), 2) },
    ),
  ],
  [3, feedFile({ feed, updateOnly: fc.boolean(), rows })],
  [1, manyRows],
  [
    1,
    request({
      ...{
        operation: "subscribeApp",
        method: "POST",
        node: fc.constant({ id: "1001" }),
        edge: "subscriptions",
        tokens: fc.constant({ header: "shop-app" }),
      },
      body: fc.constant({
        kind: "json" as const,
        fields: { object: "catalog", fields: ["product_feed"], callback_url: { $callback: "1001" }, verify_token: "v" },
      }),
    }),
  ],
);
