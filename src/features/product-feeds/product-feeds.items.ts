/** What an item of a feed is (D-56), and how a row of a file, or an entry of a world file, becomes one. */
import { codePointCount, isStorableText } from "#kernel/text";

export const itemFields = [
  "retailer_id",
  "name",
  "image_url",
  "url",
  "description",
  "price",
  "sale_price",
  "currency",
  "brand",
  "publication_category",
  "date_published",
  "author",
  "genre",
  "in_language",
  "user_rating",
  "rating_count",
  "availability",
  "custom_label_0",
  "custom_label_1",
  "custom_label_2",
  "custom_label_3",
  "custom_label_4",
] as const;
export type ItemField = (typeof itemFields)[number];

/** D-56: these are needed. */
export const neededFields = ["retailer_id", "name", "image_url", "url"] as const satisfies readonly ItemField[];

export const isNeeded = (field: ItemField): boolean => (neededFields as readonly ItemField[]).includes(field);

/** As a file says it: text, untrimmed; an empty text says nothing. */
export type RawItem = { [field in ItemField]?: string };

/** Checked text, but for the two figures. */
export interface Item {
  readonly retailer_id: string;
  /** By `keptFields`; null: the item does not say. The last one is said. */
  readonly values: readonly ItemValue[];
}

type ItemValue = string | number | null;

/** An item is kept as the list of its values in this order: new fields come at the end. */
const keptFields = itemFields.filter((field) => field !== "retailer_id");

/** Why a row is no item. The texts are few, so that a report can be read at a glance. */
export class BadItem {
  constructor(
    readonly field: ItemField | undefined,
    readonly reason: string,
  ) {}
}

/** Other names that feeds use for a field, those that count more first: of shopping feeds, RSS and Atom. */
const ALIASES = {
  retailer_id: ["id", "guid"],
  name: ["title"],
  url: ["link"],
  image_url: ["image_link"],
  date_published: ["published", "pubdate"],
  in_language: ["language"],
  description: ["summary"],
  author: ["creator"],
} as const satisfies { readonly [field in ItemField]?: readonly string[] };

export interface FieldMeaning {
  readonly field: ItemField;
  /** 0: the field's own name. Of several names of one field, the one of the lowest rank counts. */
  readonly rank: number;
}

const meanings = new Map<string, FieldMeaning>(itemFields.map((field) => [field, { field, rank: 0 }]));
for (const [field, names] of Object.entries(ALIASES))
  for (const [at, name] of names.entries()) meanings.set(name, { field: field as ItemField, rank: at + 1 });

/** The field that a column, key or element means: `g:image_link`, `Image Link` and `image-link` are one name. */
export const fieldOf = (name: string): FieldMeaning | undefined =>
  meanings.get(name) ?? meanings.get(name.trim().toLowerCase().replace(/^\w+:/, "").replaceAll(/[ -]/g, "_"));

/** Reads the trimmed text of a field that is not empty; a string of another kind than the value is the reason against it. */
type ReadField = (text: string) => string | number | BadItem;

function reader(reason: string, isValid: (text: string) => boolean, toValue: (text: string) => string | number = (text) => text) {
  return (field: ItemField): ReadField => {
    const bad = new BadItem(field, reason);
    return (text) => (isValid(text) ? toValue(text) : bad);
  };
}

const text = (most: number) => reader(`is longer than ${most} characters`, (given) => given.length <= most || codePointCount(given) <= most);
const pattern = (expression: RegExp, reason: string) => reader(reason, (given) => expression.test(given));

/** As long as addresses that browsers still take. */
const URL_CHARACTERS_MAX = 2_048;
/** An absolute http(s) address: a host, perhaps a port, and no blanks. */
const WEB_ADDRESS = /^https?:\/\/(?:[^\s/?#@]*@)?(?:[\p{L}\p{N}\p{M}._~%-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#]\S*)?$/iu;
const webAddress = reader("is not an http or https address", (given) => given.length <= URL_CHARACTERS_MAX && WEB_ADDRESS.test(given));

/** Up to 12 digits and 6 decimals, as text: no price passes through a binary float. */
const PRICE = /^\d{1,12}(?:\.\d{1,6})?$/;
const price = pattern(PRICE, "is not a price such as 12.50");

/** Names of products on shelves and in search results are cut far before this. */
const NAME_CHARACTERS_MAX = 200;
const SHORT_CHARACTERS_MAX = 100;
/** What shopping feeds allow. */
const DESCRIPTION_CHARACTERS_MAX = 9_999;
/** Stars. */
const RATING_MAX = 5;
/** Nobody has more ratings than there are people. */
const COUNT_DIGITS_MAX = 10;

const AVAILABILITY = new Set(["in stock", "out of stock", "preorder", "backorder", "available for order", "discontinued"]);
/** `In_Stock` is `in stock`. */
const availabilityOf = (given: string): string => (AVAILABILITY.has(given) ? given : given.toLowerCase().replaceAll("_", " "));

const short = text(SHORT_CHARACTERS_MAX);

const makers: Readonly<Record<ItemField, (field: ItemField) => ReadField>> = {
  retailer_id: short,
  name: text(NAME_CHARACTERS_MAX),
  image_url: webAddress,
  url: webAddress,
  description: text(DESCRIPTION_CHARACTERS_MAX),
  price,
  sale_price: price,
  currency: pattern(/^[A-Z]{3}$/, "is not a currency code such as EUR"),
  brand: short,
  publication_category: short,
  date_published: reader(
    "is not a date",
    (given) => dateOf(given) !== undefined,
    (given) => dateOf(given) as string,
  ),
  author: text(NAME_CHARACTERS_MAX),
  genre: short,
  in_language: pattern(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, "is not a language tag such as en-GB"),
  user_rating: reader(`is not a number from 0 to ${RATING_MAX}`, (given) => /^\d(?:\.\d{1,6})?$/.test(given) && Number(given) <= RATING_MAX, Number),
  rating_count: reader("is not a whole number", (given) => given.length <= COUNT_DIGITS_MAX && /^\d+$/.test(given), Number),
  availability: reader("is not a known availability", (given) => AVAILABILITY.has(availabilityOf(given)), availabilityOf),
  custom_label_0: short,
  custom_label_1: short,
  custom_label_2: short,
  custom_label_3: short,
  custom_label_4: short,
};

const readRetailerId = makers.retailer_id("retailer_id");
const keptReaders = keptFields.map((field) => ({
  field,
  read: makers[field](field),
  lack: isNeeded(field) ? new BadItem(field, "is missing") : undefined,
}));
const lackingId = new BadItem("retailer_id", "is missing");

/** Fields that are not known are no part of `raw`; empty ones say nothing. */
export function readItem(raw: RawItem): Item | BadItem {
  const given = withCurrency(raw);
  if (given === undefined) return twoCurrencies;
  const id = given.retailer_id?.trim() ?? "";
  const retailer_id = id === "" ? lackingId : readRetailerId(id);
  if (retailer_id instanceof BadItem) return retailer_id;
  const values: ItemValue[] = [];
  let unsaid = 0;
  for (const { field, read, lack } of keptReaders) {
    const trimmed = given[field]?.trim() ?? "";
    if (trimmed === "") {
      if (lack !== undefined) return lack;
      unsaid++;
      continue;
    }
    const value = read(trimmed);
    if (value instanceof BadItem) return value;
    for (; unsaid > 0; unsaid--) values.push(null);
    values.push(value);
  }
  return { retailer_id: id, values };
}

/** `12.50 EUR` says both. */
const PRICE_WITH_CURRENCY = /^(\S+) +([A-Z]{3})$/;
const twoCurrencies = new BadItem("currency", "differs from that of the price");

/** Undefined: the currencies differ. */
function withCurrency(raw: RawItem): RawItem | undefined {
  let read: RawItem | undefined = raw;
  if (raw.price?.includes(" ") === true) read = splitPrice(read, "price");
  if (raw.sale_price?.includes(" ") === true) read = read === undefined ? undefined : splitPrice(read, "sale_price");
  return read;
}

function splitPrice(raw: RawItem, field: "price" | "sale_price"): RawItem | undefined {
  const match = PRICE_WITH_CURRENCY.exec(raw[field]?.trim() ?? "");
  if (match === null) return raw;
  const [, amount = "", currency = ""] = match;
  const stated = raw.currency?.trim() ?? "";
  return stated === "" || stated === currency ? { ...raw, [field]: amount, currency } : undefined;
}

const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
/** RSS: `Sat, 21 Nov 2026 10:00:00 +0000` (RFC 822). */
const MAIL_DATE = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})? (?:[+-]\d{4}|GMT|UTC|UT|Z)$/;

/** ISO 8601 stays as it is written; the dates of mail and RSS become that. */
function dateOf(given: string): string | undefined {
  const day = ISO_DATE.exec(given)?.[1];
  if (day !== undefined) {
    // A day that the month does not have is read as one of the next month, or not at all.
    const ms = Date.parse(`${day}T00:00:00Z`);
    return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) && !Number.isNaN(Date.parse(given)) ? given : undefined;
  }
  const ms = MAIL_DATE.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(ms) ? undefined : `${new Date(ms).toISOString().slice(0, -".000Z".length)}Z`;
}

const notUtf8 = new BadItem(undefined, "has bytes that are not UTF-8, or U+FFFD in their place");
const notStorable = new BadItem(undefined, "has U+0000 or a lone surrogate");

/** The values as they are kept: JSON. */
export function textOfItem({ retailer_id, values }: Item): string | BadItem {
  const json = JSON.stringify(values);
  // JSON escapes what no store may hold, and a backslash itself, so that few rows are looked at twice.
  if (json.includes("\\u") || json.includes("\uFFFD") || retailer_id.includes("\uFFFD") || !isStorableText(retailer_id)) {
    const all = [retailer_id, ...values].join(" ");
    if (all.includes("\uFFFD")) return notUtf8;
    if (!isStorableText(all)) return notStorable;
  }
  return json;
}

/** What `textOfItem` made, by name. */
export function fieldsOfText(text: string): { readonly [field in ItemField]?: string | number } {
  const values = JSON.parse(text) as readonly ItemValue[] | { readonly [field in ItemField]?: string | number };
  // Databases hold items that were kept by name.
  if (!isList(values)) return values;
  const fields: { [field in ItemField]?: string | number } = {};
  for (const [at, value] of values.entries()) if (value !== null) fields[keptFields[at] as ItemField] = value;
  return fields;
}

const isList = (given: unknown): given is readonly ItemValue[] => Array.isArray(given);
