/** Tests how items of RSS and entries of Atom are read, element by element, and how long their texts may be. */
import { expect, test } from "bun:test";
import type { RawItem } from "../product-feeds.items.ts";
import { ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { XmlReader } from "./xml.ts";

function open() {
  const rows: RawItem[] = [];
  const reader = new XmlReader({ row: (_line, raw) => void rows.push({ ...raw }), bad: () => {}, warn: () => {} });
  return { reader, rows };
}

function itemOf(content: string): RawItem | undefined {
  const { reader, rows } = open();
  reader.push(`<rss><channel><item>${content}</item></channel></rss>`);
  reader.end();
  return rows[0];
}

test.each([
  ["an enclosure that is a picture", '<enclosure url="u" type="image/png"/>', "u"],
  ["another enclosure", '<enclosure url="u" type="audio/mpeg"/>', undefined],
  ["an enclosure of no type", '<enclosure url="u"/>', undefined],
  ["media that say so", '<media:content url="u" medium="image"/>', "u"],
  ["media of such a type", '<media:content url="u" type="image/png"/>', "u"],
  ["other media", '<media:content url="u" medium="video" type="video/mp4"/>', undefined],
  ["a thumbnail", '<media:thumbnail url="u"/>', "u"],
  ["a link to a picture", '<link rel="enclosure" type="image/png" href="u"/>', "u"],
  ["a link to something else", '<link rel="enclosure" type="audio/mpeg" href="u"/>', undefined],
  ["another link of a picture's type", '<link rel="alternate" type="image/png" href="u"/>', undefined],
  ["a podcast's image", '<itunes:image href="u"/>', "u"],
  ["an image without an address", "<image>u</image>", undefined],
  ["an author's picture", '<author><media:thumbnail url="u"/></author>', "u"],
])("the picture of an item: %s", (_title, element, picture) => {
  expect(itemOf(`<guid>a</guid>${element}`)).toMatchObject({ retailer_id: "a" });
  expect(itemOf(`<guid>a</guid>${element}`)?.image_url).toBe(picture);
  // An element whose name belongs to the field `image_url` has precedence over a picture element, in any order of the elements.
  expect(itemOf(`<image_url>named</image_url>${element}`)?.image_url).toBe("named");
  expect(itemOf(`${element}<g:image_link>named</g:image_link>`)?.image_url).toBe("named");
});

test("the first of several elements with one name is used, and a better name before it", () => {
  expect(itemOf("<title>one</title><title>two</title><name>own</name><title>three</title>")).toEqual({ name: "own" });
  expect(itemOf("<guid>one</guid><guid>two</guid>")).toEqual({ retailer_id: "one" });
  expect(itemOf('<enclosure url="one" type="image/png"/><enclosure url="two" type="image/png"/>')).toEqual({ image_url: "one" });
});

test("the address is that of the page, not of the feed, of comments or of an edit", () => {
  expect(itemOf('<link rel="self" href="s"/><link rel="replies" href="r"/><link href="u"/><link rel="alternate" href="v"/>')).toEqual({ url: "u" });
  expect(itemOf('<link rel="alternate" href="v"/>')).toEqual({ url: "v" });
  expect(itemOf("<link>plain</link>")).toEqual({ url: "plain" });
  expect(itemOf('<link href="u"/><link>plain</link>')).toEqual({ url: "u" });
  // The text of an ignored link is a value neither of the link nor of the element before the link.
  expect(itemOf('<title>T</title><link rel="self" href="s">x</link>')).toEqual({ name: "T" });
});

test("only the item's own elements are values, and an author is its name", () => {
  expect(itemOf("<source><title>of the source</title></source><title>own</title>")).toEqual({ name: "own" });
  expect(itemOf("<author><email>e</email><name>Ann</name><uri>u</uri></author>")?.author).toBe("Ann");
  expect(itemOf("<author>Bo</author>")?.author).toBe("Bo");
  expect(itemOf("<title>a<b>c</b>d</title>")?.name).toBe("acd");
  const { reader, rows } = open();
  reader.push("<rss><channel><title>Shop</title><item/><title>Shop</title><item><title>x</title></item></channel></rss>");
  expect(rows).toEqual([{}, { name: "x" }]);
});

test.each(["UTF-8", "utf8", "US-ASCII"])("a file may declare %s", (encoding) => {
  const { reader, rows } = open();
  reader.push(`<?xml version="1.0" encoding="${encoding}"?><rdf:RDF><item><title>x</title></item></rdf:RDF>`);
  expect(rows).toEqual([{ name: "x" }]);
});

test("a tag or a text has a maximum length; comments, sections and tags end a text", () => {
  const long = "x".repeat(ROW_CHARACTERS_MAX);
  const within = open().reader;
  within.push("<rss><channel><item><title>");
  within.push(long);
  expect(() => within.push("x")).toThrow(`a tag or text is longer than ${ROW_CHARACTERS_MAX} characters`);
  const half = "x".repeat(ROW_CHARACTERS_MAX * 0.6);
  for (const parted of [`<!--${half}-->`, `<![CDATA[${half}]]>`, `<a>${half}</a>`, `<a b="${half}"/>`]) {
    const { reader, rows } = open();
    reader.push("<rss><channel><item><description>");
    for (let times = 0; times < 3; times++) reader.push(parted);
    reader.push("</description></item></channel></rss>");
    reader.end();
    expect(rows).toHaveLength(1);
  }
});

test("the end of an element ends its tag and text, too", () => {
  const { reader, rows } = open();
  reader.push("<rss><channel><item><title>x<");
  reader.push(`/title>${" ".repeat(ROW_CHARACTERS_MAX)}`);
  reader.push("</item></channel></rss>");
  expect(rows).toEqual([{ name: "x" }]);
});
