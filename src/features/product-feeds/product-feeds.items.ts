/** Defines the fields of a feed's items (D-56), and validates the rows of a feed file and the items of a world file. */
import { codePointCount, isStorableText } from "#kernel/text";

export const itemFields = [
  ...(["retailer_id", "name", "image_url", "url", "description", "price", "sale_price", "currency", "brand", "publication_category"] as const),
  ...(["date_published", "author", "genre", "in_language", "user_rating", "rating_count", "availability"] as const),
  ...(["custom_label_0", "custom_label_1", "custom_label_2", "custom_label_3", "custom_label_4"] as const),
];
export type ItemField = (typeof itemFields)[number];

/** D-56: the fields that every item must have. */
export const requiredFields = ["retailer_id", "name", "image_url", "url"] as const satisfies readonly ItemField[];

export const isRequired = (field: ItemField): boolean => (requiredFields as readonly ItemField[]).includes(field);

/** The values of a row as the file contains them, untrimmed. An empty text counts as a missing value. */
export type RawItem = { [field in ItemField]?: string };

/** A valid item. */
export interface Item {
  readonly retailer_id: string;
  /** The values in the order of `keptFields`; null stands for an absent value. Nulls at the end of the list are left out. */
  readonly values: readonly ItemValue[];
}

type ItemValue = string | number | null;

/**
 * The fields in the order in which an item's values are stored. New fields must be added at the end, because an item is stored as a list of values
 * without names.
 */
const keptFields = itemFields.filter((field) => field !== "retailer_id");

/** The reason why a row is not a valid item. */
export class BadItem {
  constructor(
    readonly field: ItemField | undefined,
    readonly reason: string,
  ) {}
}

/** The other names of each item field in shopping feeds, RSS and Atom, in order of precedence. */
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
  /**
   * The rank of a name of the field: 0 for the field's own name, and higher numbers for its other names. If a row has values under several names of a
   * field, the value of the name with the lowest rank is used.
   */
  readonly rank: number;
}

const meanings = new Map<string, FieldMeaning>(itemFields.map((field) => [field, { field, rank: 0 }]));
for (const [field, names] of Object.entries(ALIASES))
  for (const [at, name] of names.entries()) meanings.set(name, { field: field as ItemField, rank: at + 1 });

/** Returns the field that a column, key or element names. The names `g:image_link`, `Image Link` and `image-link` all name the field `image_url`. */
export const fieldOf = (name: string): FieldMeaning | undefined =>
  meanings.get(name) ?? meanings.get(name.trim().toLowerCase().replace(/^\w+:/, "").replaceAll(/[ -]/g, "_"));

/** A function that reads the value of a field from a trimmed text that is not empty. */
type ReadField = (text: string) => string | number | BadItem;

function reader(reason: string, isValid: (text: string) => boolean, toValue: (text: string) => string | number = (text) => text) {
  return (field: ItemField): ReadField => {
    const bad = new BadItem(field, reason);
    return (text) => (isValid(text) ? toValue(text) : bad);
  };
}

const text = (most: number) => reader(`is longer than ${most} characters`, (input) => input.length <= most || codePointCount(input) <= most);
const pattern = (expression: RegExp, reason: string) => reader(reason, (input) => expression.test(input));

/** The longest address of an item. Browsers and CDNs refuse addresses that are much longer than this limit. */
const URL_CHARACTERS_MAX = 2_048;
/** D-312: the address of an item is an absolute http(s) address with a host, an optional port, and no white space or control characters. */
const WEB_ADDRESS = /^https?:\/\/(?:[^\s/?#@]*@)?(?:[\p{L}\p{N}\p{M}._~%-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#][^\s\p{Cc}]*)?$/iu;
const webAddress = reader("is not an http or https address", (input) => input.length <= URL_CHARACTERS_MAX && WEB_ADDRESS.test(input));

/** A price has up to 12 digits and 6 decimals. A price is stored as text, because a binary float could change its digits. */
const PRICE = /^\d{1,12}(?:\.\d{1,6})?$/;
const price = pattern(PRICE, "is not a price such as 12.50");

/** The longest name of an item. The longest name is more than enough, because search results and lists of products show far fewer characters. */
const NAME_CHARACTERS_MAX = 200;
const SHORT_CHARACTERS_MAX = 100;
/** The longest description of an item, which is the limit of common shopping feeds. */
const DESCRIPTION_CHARACTERS_MAX = 9_999;
/** The highest rating, in stars. */
const RATING_MAX = 5;
/** The greatest number of digits of a count: enough for the number of people on Earth. */
const COUNT_DIGITS_MAX = 10;

const AVAILABILITY = new Set(["in stock", "out of stock", "preorder", "backorder", "available for order", "discontinued"]);
/** Returns the availability in lower case and with blanks, for example `in stock` for `In_Stock`. */
const availabilityOf = (input: string): string => (AVAILABILITY.has(input) ? input : input.toLowerCase().replaceAll("_", " "));

const short = text(SHORT_CHARACTERS_MAX);

const ownLabel = { meaning: "a label that the seller chooses", read: short };

/** For each field, its meaning for the documentation, and the function that reads its value. */
const definitions: Readonly<Record<ItemField, { readonly meaning: string; readonly read: (field: ItemField) => ReadField }>> = {
  retailer_id: { meaning: "the seller's id for the item, which must be unique in the feed", read: short },
  name: { meaning: "the item's title", read: text(NAME_CHARACTERS_MAX) },
  image_url: { meaning: "the address of the item's picture", read: webAddress },
  url: { meaning: "the address of the item's page", read: webAddress },
  description: { meaning: "a text about the item", read: text(DESCRIPTION_CHARACTERS_MAX) },
  price: { meaning: "the price", read: price },
  sale_price: { meaning: "the reduced price", read: price },
  currency: { meaning: "the currency of both prices, e.g. EUR", read: pattern(/^[A-Z]{3}$/, "is not a currency code such as EUR") },
  brand: { meaning: "the brand or the publisher", read: short },
  publication_category: { meaning: "the category of the publication", read: short },
  date_published: {
    meaning: "the time of publication, ISO 8601",
    read: reader(
      "is not a date",
      (input) => dateOf(input) !== undefined,
      (input) => dateOf(input) as string,
    ),
  },
  author: { meaning: "the author", read: text(NAME_CHARACTERS_MAX) },
  genre: { meaning: "the genre", read: short },
  in_language: {
    meaning: "the language of the item, e.g. en",
    read: pattern(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/, "is not a language tag such as en-GB"),
  },
  user_rating: {
    meaning: "the average rating, up to 5",
    read: reader(`is not a number from 0 to ${RATING_MAX}`, (input) => /^\d(?:\.\d{1,6})?$/.test(input) && Number(input) <= RATING_MAX, Number),
  },
  rating_count: {
    meaning: "the number of ratings",
    read: reader("is not a whole number", (input) => input.length <= COUNT_DIGITS_MAX && /^\d+$/.test(input), Number),
  },
  availability: {
    meaning: "the availability of the item, e.g. in stock",
    read: reader("is not an availability such as in stock", (input) => AVAILABILITY.has(availabilityOf(input)), availabilityOf),
  },
  custom_label_0: ownLabel,
  custom_label_1: ownLabel,
  custom_label_2: ownLabel,
  custom_label_3: ownLabel,
  custom_label_4: ownLabel,
};
export const meaningOf = (field: ItemField): string => definitions[field].meaning;

const readRetailerId = definitions.retailer_id.read("retailer_id");
const keptReaders = keptFields.map((field) => ({
  field,
  read: definitions[field].read(field),
  missing: isRequired(field) ? new BadItem(field, "is missing") : undefined,
}));
const PRICE_AT = keptFields.indexOf("price");
/** D-141: the reasons why a `sale_price` is left out, and why a row without a retailer_id is bad. */
const withoutPrice = new BadItem("sale_price", "is given without a price");
const missingId = new BadItem("retailer_id", "is missing");

/**
 * Validates a row. Empty values count as missing. If `warn` is given, a wrong optional value is left out and passed to `warn` (D-141). If `warn` is
 * not given, an item with a wrong optional value is bad.
 */
export function readItem(raw: RawItem, warn?: (wrong: BadItem) => void): Item | BadItem {
  const input = withCurrency(raw, warn);
  if (input instanceof BadItem) return input;
  const id = input.retailer_id?.trim() ?? "";
  const retailer_id = id === "" ? missingId : readRetailerId(id);
  if (retailer_id instanceof BadItem) return retailer_id;
  const values: ItemValue[] = [];
  let absent = 0;
  for (const { field, read, missing } of keptReaders) {
    const trimmed = input[field]?.trim() ?? "";
    if (trimmed === "") {
      if (missing !== undefined) return missing;
      absent++;
      continue;
    }
    const value = read(trimmed);
    if (value instanceof BadItem) {
      if (missing !== undefined || warn === undefined) return value;
      warn(value);
      absent++;
      continue;
    }
    if (field === "sale_price" && (values[PRICE_AT] ?? null) === null) {
      if (warn === undefined) return withoutPrice;
      warn(withoutPrice);
      absent++;
      continue;
    }
    for (; absent > 0; absent--) values.push(null);
    values.push(value);
  }
  return { retailer_id: id, values };
}

/** A price with its currency, such as `12.50 EUR`. */
const PRICE_WITH_CURRENCY = /^(\S+) +([A-Z]{3})$/;
const twoCurrencies = new BadItem("currency", "differs from the currency of the price");

/**
 * Moves the currency of a price such as `12.50 EUR` to the field `currency`. If the currency of a price differs from the currency of the row, the
 * price is left out if `warn` is given; otherwise the item is bad.
 */
function withCurrency(raw: RawItem, warn: ((wrong: BadItem) => void) | undefined): RawItem | BadItem {
  let read = raw;
  for (const field of ["price", "sale_price"] as const) {
    if (raw[field]?.includes(" ") !== true) continue;
    const split = splitPrice(read, field);
    if (split === undefined && warn === undefined) return twoCurrencies;
    if (split === undefined) warn?.(new BadItem(field, "is not in the currency of the row"));
    read = split ?? { ...read, [field]: "" };
  }
  return read;
}

/** Returns the row with the price and its currency in separate fields, or undefined if the currency differs from the row's. */
function splitPrice(raw: RawItem, field: "price" | "sale_price"): RawItem | undefined {
  const match = PRICE_WITH_CURRENCY.exec(raw[field]?.trim() ?? "");
  if (match === null) return raw;
  const [, amount = "", currency = ""] = match;
  const stated = raw.currency?.trim() ?? "";
  return stated === "" || stated === currency ? { ...raw, [field]: amount, currency } : undefined;
}

const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
/** A date in the format of RSS, such as `Sat, 21 Nov 2026 10:00:00 +0000` (RFC 822). */
const MAIL_DATE = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})? (?:[+-]\d{4}|GMT|UTC|UT|Z)$/;

/** Returns a date as ISO 8601: a date in ISO 8601 stays as it is, and a date of RSS is converted. Returns undefined for a text that is not a date. */
function dateOf(input: string): string | undefined {
  const day = ISO_DATE.exec(input)?.[1];
  if (day !== undefined) {
    // Date.parse accepts 31 February and returns a day of March, so the day of its result is compared with the given day.
    const ms = Date.parse(`${day}T00:00:00Z`);
    return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) && !Number.isNaN(Date.parse(input)) ? input : undefined;
  }
  const ms = MAIL_DATE.test(input) ? Date.parse(input) : Number.NaN;
  return Number.isNaN(ms) ? undefined : `${new Date(ms).toISOString().slice(0, -".000Z".length)}Z`;
}

const notUtf8 = new BadItem(undefined, "contains bytes that are not UTF-8, or U+FFFD");
const notStorable = new BadItem(undefined, "contains U+0000 or a lone surrogate");

/** Returns the values of an item as they are stored, a JSON list, or a `BadItem` if a text cannot be stored. */
export function textOfItem({ retailer_id, values }: Item): string | BadItem {
  const json = JSON.stringify(values);
  // JSON.stringify writes characters that cannot be stored as escape sequences, so only the few items with an escape sequence or U+FFFD need the full
  // check.
  if (json.includes("\\u") || json.includes("\uFFFD") || retailer_id.includes("\uFFFD") || !isStorableText(retailer_id)) {
    const broken = brokenText([retailer_id, ...values].join(" "));
    if (broken !== undefined) return broken;
  }
  return json;
}

function brokenText(value: string): BadItem | undefined {
  if (value.includes("\uFFFD")) return notUtf8;
  return isStorableText(value) ? undefined : notStorable;
}

/**
 * Reads a row of a file. Returns the item as it is stored, without wrong optional values, or the reason why the row is bad. Each wrong optional value
 * is passed to `warn`.
 */
export function readRow(raw: RawItem, warn: (wrong: BadItem) => void): { readonly retailer_id: string; readonly text: string } | BadItem {
  const warnings: BadItem[] = [];
  const read = readItem(raw, (wrong) => warnings.push(wrong));
  if (read instanceof BadItem) return read;
  const text = textOfItem(read);
  if (text instanceof BadItem) {
    const broken = itemFields.filter((field) => !isRequired(field) && raw[field] !== undefined && brokenText(raw[field]) !== undefined);
    if (broken.length === 0) return text;
    const rest = readRow({ ...raw, ...Object.fromEntries(broken.map((field) => [field, ""])) }, warn);
    if (rest instanceof BadItem) return rest;
    for (const field of broken) warn(new BadItem(field, (brokenText(raw[field] ?? "") as BadItem).reason));
    return rest;
  }
  for (const wrong of warnings) warn(wrong);
  return { retailer_id: read.retailer_id, text };
}

/** Reads an item that `textOfItem` wrote. Returns the values of the row by field. */
export function fieldsOfText(text: string): { readonly [field in ItemField]?: string | number } {
  const fields: { [field in ItemField]?: string | number } = {};
  for (const [at, value] of (JSON.parse(text) as readonly ItemValue[]).entries()) if (value !== null) fields[keptFields[at] as ItemField] = value;
  return fields;
}
