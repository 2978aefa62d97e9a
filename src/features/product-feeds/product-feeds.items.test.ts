import { describe, expect, test } from "bun:test";
import { BadItem, fieldOf, fieldsOfText, type ItemField, type RawItem, readItem, readRow, textOfItem } from "./product-feeds.items.ts";

const row = (id: string) => ({ retailer_id: id, name: `Book ${id}`, url: `https://a.example/${id}`, image_url: `https://a.example/${id}.png` });

describe("D-56: items", () => {
  const item = (more: RawItem) => {
    const read = readItem({ ...row("a"), ...more });
    return read instanceof BadItem ? read : { retailer_id: read.retailer_id, ...fieldsOfText(textOfItem(read) as string) };
  };
  const reasonOf = (more: RawItem) => {
    const read = item(more);
    return read instanceof BadItem ? `${read.field} ${read.reason}` : "no reason";
  };

  test("the four required fields are required, and an empty text counts as absent", () => {
    for (const field of ["retailer_id", "name", "url", "image_url"] as const) expect(reasonOf({ [field]: "  " })).toBe(`${field} is missing`);
    expect(item({ brand: " ", description: "" })).toEqual(row("a"));
  });

  test("an item is kept as a list of values", () => {
    expect(fieldsOfText('["N",null,"u"]')).toEqual({ name: "N", url: "u" });
  });

  test("fields are read with their types", () => {
    const read = item({
      price: "12.50 EUR",
      sale_price: "9 EUR",
      user_rating: "4.5",
      rating_count: "120",
      availability: "In_Stock",
      date_published: "Sat, 21 Nov 2026 10:00:00 +0100",
      in_language: "en-GB",
      name: " trimmed ",
    });
    expect(read).toEqual({
      ...row("a"),
      name: "trimmed",
      price: "12.50",
      sale_price: "9",
      currency: "EUR",
      user_rating: 4.5,
      rating_count: 120,
      availability: "in stock",
      date_published: "2026-11-21T09:00:00Z",
      in_language: "en-GB",
    });
  });

  test("values that a field does not accept are reported", () => {
    const refused: RawItem[] = [
      { price: "12,50" },
      { price: "-1" },
      { sale_price: "1" },
      { price: "1e3" },
      { price: "1 EUR", currency: "USD" },
      { currency: "euro" },
      { url: "ftp://a.example/x" },
      { url: "https://a b.example" },
      { image_url: "//a.example" },
      { url: `https://a.example/${"x".repeat(2_048)}` },
      { user_rating: "5.1" },
      { rating_count: "1.5" },
      { availability: "maybe" },
      { date_published: "2026-02-30" },
      { date_published: "yesterday" },
      { in_language: "english please" },
      { name: "😀".repeat(201) },
      { retailer_id: "x".repeat(101) },
      { custom_label_4: "x".repeat(101) },
    ];
    for (const more of refused) expect(reasonOf(more)).toStartWith(`${Object.keys(more).at(-1)} `);
    expect(item({ name: "😀".repeat(200) })).not.toBeInstanceOf(BadItem);
    for (const url of ["https://bücher.example/ü?a=b#c", "http://[2001:db8::1]:8080/", "HTTPS://A.example"])
      expect(item({ url })).toMatchObject({ url });
  });

  test("D-141: in a file a wrong optional value is omitted, and a row with a wrong required value is skipped", () => {
    const kept = (more: RawItem) => {
      const warnings: string[] = [];
      const read = readRow({ ...row("a"), ...more }, ({ field, reason }) => warnings.push(`${field} ${reason}`));
      if (read instanceof BadItem) return { bad: read.field, warnings };
      return { ...fieldsOfText(read.text), warnings: warnings.map((warning) => warning.split(" ")[0]) };
    };
    const { retailer_id: _, ...values } = row("a");
    expect(kept({ price: "12,50", brand: "B", rating_count: "many" })).toEqual({ ...values, brand: "B", warnings: ["price", "rating_count"] });
    expect(kept({ price: "1 EUR", sale_price: "2 USD" })).toEqual({ ...values, price: "1", currency: "EUR", warnings: ["sale_price"] });
    for (const price of ["", "12,50"])
      expect(kept({ price, sale_price: "2 EUR", brand: "B" })).toEqual({
        ...values,
        ...{ brand: "B", currency: "EUR" },
        warnings: [...(price === "" ? [] : ["price"]), "sale_price"],
      });
    expect(kept({ description: "a\u0000b", author: "\uFFFD" })).toEqual({ ...values, warnings: ["description", "author"] });
    expect(kept({ url: "nowhere", price: "12,50", description: "\uFFFD" })).toEqual({ bad: "url", warnings: [] });
    expect(kept({ name: "\uFFFD", author: "\uFFFD" })).toMatchObject({ warnings: [] });
  });
});

/** Returns the stored value of a field in an item that is valid otherwise, or the reason why the item is refused. */
function keptAs(field: ItemField, value: string): unknown {
  const read = readItem({ ...row("a"), ...(field === "sale_price" ? { price: "1" } : {}), [field]: value });
  if (read instanceof BadItem) return `${read.field} ${read.reason}`;
  return field === "retailer_id" ? read.retailer_id : fieldsOfText(textOfItem(read) as string)[field];
}

const webAddress = (length: number): string => `https://a.example/${"x".repeat(length - "https://a.example/".length)}`;

describe("D-56: values at their bounds", () => {
  const short = ["retailer_id", "brand", "publication_category", "genre", ...[0, 1, 2, 3, 4].map((n) => `custom_label_${n}` as const)] as const;

  test.each<[ItemField, number]>([
    ...short.map((field) => [field, 100] as [ItemField, number]),
    ["name", 200],
    ["author", 200],
    ["description", 9_999],
  ])("%s has at most %d characters", (field, most) => {
    expect(keptAs(field, "x".repeat(most))).toBe("x".repeat(most));
    expect(keptAs(field, "😀".repeat(most))).toBe("😀".repeat(most));
    for (const long of ["x".repeat(most + 1), "😀".repeat(most + 1)]) expect(keptAs(field, long)).toBe(`${field} is longer than ${most} characters`);
  });

  test.each<[ItemField, (string | [given: string, kept: unknown])[], string[]]>([
    [
      "url",
      [webAddress(2_048), "http://a.example:65535"],
      [webAddress(2_049), "https://", "https://a.example:123456", "https://a.example/a b", "https://a.example/a\u0001b"],
    ],
    ["image_url", [webAddress(2_048)], [webAddress(2_049)]],
    ["price", ["123456789012.123456", "0"], ["1234567890123", "1.1234567", "1.", ".5", "+1"]],
    ["sale_price", ["123456789012.123456"], ["1234567890123"]],
    ["currency", ["EUR"], ["EURO", "EU", "eur"]],
    [
      "user_rating",
      [
        ["5", 5],
        ["0", 0],
        ["4.123456", 4.123456],
      ],
      ["5.000001", "-1", "04", "1.1234567", "6"],
    ],
    [
      "rating_count",
      [
        ["0", 0],
        ["9999999999", 9_999_999_999],
      ],
      ["10000000000", "-1", "1e3"],
    ],
    [
      "availability",
      [
        ["out of stock", "out of stock"],
        ["AVAILABLE_FOR_ORDER", "available for order"],
        ["Preorder", "preorder"],
      ],
      ["in-stock", "stock"],
    ],
    ["in_language", ["de", "zh-Hant-TW"], ["d", "de_DE", "de-"]],
    [
      "date_published",
      ["2026-11-21", "2026-11-21T10:00", "2026-11-21T10:00:00.123456789+01:00", "2028-02-29"],
      ["2026-13-01", "2027-02-29", "2026-11-21T25:00"],
    ],
    [
      "date_published",
      [
        ["1 Nov 2026 10:00 GMT", "2026-11-01T10:00:00Z"],
        ["Sun, 01 Nov 2026 10:00:30 -0500", "2026-11-01T15:00:30Z"],
      ],
      ["Sun, 99 Nov 2026 10:00:00 GMT", "November 1, 2026", "2026-11-21 10:00"],
    ],
  ])("%s", (field, right, wrong) => {
    for (const one of right) {
      const [given, kept] = typeof one === "string" ? [one, one] : one;
      expect({ given, kept: keptAs(field, ` ${given} `.trimEnd()) }).toEqual({ given, kept });
    }
    for (const given of wrong) expect(keptAs(field, given)).toStartWith(`${field} is not `);
  });

  test("a price may have a currency, and both prices the same one", () => {
    const read = (raw: RawItem) => {
      const item = readItem({ ...row("a"), ...raw });
      if (item instanceof BadItem) return `${item.field} ${item.reason}`;
      const { price, sale_price, currency } = fieldsOfText(textOfItem(item) as string);
      return [price, sale_price, currency];
    };
    expect(read({ price: "2", sale_price: " 1 EUR " })).toEqual(["2", "1", "EUR"]);
    expect(read({ price: "2  EUR", sale_price: "1 EUR", currency: " EUR " })).toEqual(["2", "1", "EUR"]);
    expect(read({ price: "2 EUR", sale_price: "1 USD" })).toBe("currency differs from the currency of the price");
    expect(read({ sale_price: "1 USD", currency: "EUR" })).toBe("currency differs from the currency of the price");
    expect(read({ price: "EUR 2" })).toBe("price is not a price such as 12.50");
  });
});

test("D-56: a field is found by its own name, then by other names in their order, in any spelling", () => {
  expect(["name", "title", "guid", "id", "retailer_id"].map(fieldOf)).toEqual([
    { field: "name", rank: 0 },
    { field: "name", rank: 1 },
    { field: "retailer_id", rank: 2 },
    { field: "retailer_id", rank: 1 },
    { field: "retailer_id", rank: 0 },
  ]);
  for (const name of ["g:image_link", " Image Link ", "IMAGE-LINK", "image_link"])
    expect({ name, of: fieldOf(name)?.field }).toEqual({ name, of: "image_url" });
  for (const name of ["", "image", "names", "g:"]) expect({ name, of: fieldOf(name) }).toEqual({ name, of: undefined });
});

describe("D-141: text that cannot be stored", () => {
  const reasonOf = (raw: RawItem) => {
    const item = readItem({ ...row("a"), ...raw });
    const text = item instanceof BadItem ? item : textOfItem(item);
    return text instanceof BadItem ? text.reason : undefined;
  };

  test("is found anywhere; text that only looks like it is kept", () => {
    for (const field of ["retailer_id", "name", "genre"] as const) {
      expect({ field, reason: reasonOf({ [field]: "a\uFFFD" }) }).toEqual({ field, reason: "contains bytes that are not UTF-8, or U+FFFD" });
      for (const broken of ["a\u0000b", "a\ud800"])
        expect({ field, reason: reasonOf({ [field]: broken }) }).toEqual({ field, reason: "contains U+0000 or a lone surrogate" });
      for (const fine of ["a\u0001b", "a\\u0000", "😀"]) expect({ field, reason: reasonOf({ [field]: fine }) }).toEqual({ field, reason: undefined });
    }
  });

  test("in one optional field omits its value", () => {
    const warnings: unknown[] = [];
    const read = readRow({ ...row("a"), brand: "B", author: "\uFFFD" }, (wrong) => warnings.push(wrong));
    expect(read instanceof BadItem ? read : fieldsOfText(read.text).brand).toBe("B");
    expect(warnings).toEqual([new BadItem("author", "contains bytes that are not UTF-8, or U+FFFD")]);
  });

  test("in a required field skips the row, whatever else is wrong with it", () => {
    const warnings: unknown[] = [];
    const read = readRow({ ...row("a"), name: "\uFFFD", author: "\uFFFD", price: "x" }, (wrong) => warnings.push(wrong));
    expect({ read, warnings }).toEqual({ read: new BadItem(undefined, "contains bytes that are not UTF-8, or U+FFFD"), warnings: [] });
  });
});
