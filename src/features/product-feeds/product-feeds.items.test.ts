import { describe, expect, test } from "bun:test";
import { BadItem, fieldsOfText, type RawItem, readItem, readRow, textOfItem } from "./product-feeds.items.ts";

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

  test("the four needed fields are needed, and an empty text is none", () => {
    for (const field of ["retailer_id", "name", "url", "image_url"] as const) expect(reasonOf({ [field]: "  " })).toBe(`${field} is missing`);
    expect(item({ brand: " ", description: "" })).toEqual(row("a"));
  });

  test("an item that was kept by name is read as one that is kept as a list", () => {
    expect(fieldsOfText('{"name":"N","user_rating":4.5}')).toEqual({ name: "N", user_rating: 4.5 });
    expect(fieldsOfText('["N",null,"u"]')).toEqual({ name: "N", url: "u" });
  });

  test("fields are read as what they are", () => {
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

  test("what a field does not accept is reported", () => {
    const refused: RawItem[] = [
      { price: "12,50" },
      { price: "-1" },
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

  test("D-141: in a file a wrong optional value costs itself, a wrong required one the row", () => {
    const kept = (more: RawItem) => {
      const warnings: string[] = [];
      const read = readRow({ ...row("a"), ...more }, ({ field, reason }) => warnings.push(`${field} ${reason}`));
      if (read instanceof BadItem) return { bad: read.field, warnings };
      return { ...fieldsOfText(read.text), warnings: warnings.map((warning) => warning.split(" ")[0]) };
    };
    const { retailer_id: _, ...values } = row("a");
    expect(kept({ price: "12,50", brand: "B", rating_count: "many" })).toEqual({ ...values, brand: "B", warnings: ["price", "rating_count"] });
    expect(kept({ price: "1 EUR", sale_price: "2 USD" })).toEqual({ ...values, price: "1", currency: "EUR", warnings: ["sale_price"] });
    expect(kept({ description: "a\u0000b", author: "\uFFFD" })).toEqual({ ...values, warnings: ["description", "author"] });
    expect(kept({ url: "nowhere", price: "12,50", description: "\uFFFD" })).toEqual({ bad: "url", warnings: [] });
    expect(kept({ name: "\uFFFD", author: "\uFFFD" })).toMatchObject({ warnings: [] });
  });
});
