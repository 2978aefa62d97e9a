/** Makes hostile and honest feed files that are as large as the limits of their formats allow. */
import { gzipSync } from "node:zlib";

export const HEADER = "retailer_id,name,url,image_url";
const times = (part: string, bytes: number): string => part.repeat(Math.ceil(bytes / part.length));
export const row = (at: number): string => `r${at},Book ${at},https://a.example/${at},https://a.example/${at}.png`;
export const item = (at: number): string =>
  `<item><guid>r${at}</guid><title>Book ${at}</title><link>https://a.example/${at}</link><image_link>https://a.example/${at}.png</image_link></item>`;
export const line = (at: number): string =>
  JSON.stringify({ id: `r${at}`, title: `Book ${at}`, link: `https://a.example/${at}`, image_link: `https://a.example/${at}.png` });
const rows = (of: (at: number) => string, count: number, separator = "\n"): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(separator);

/** The files by their names. `bytes` is the length of a file; a packed file grows to this length times the greatest allowed ratio. */
export function feedFiles(bytes: number): Readonly<Record<string, () => string | Uint8Array>> {
  const count = Math.floor(bytes / 70);
  const honest = {
    CSV: () => `${HEADER}\n${rows(row, count)}`,
    TSV: () => `${HEADER}\n${rows(row, count)}`.replaceAll(",", "\t"),
    XML: () => `<rss><channel>${rows(item, Math.floor(count / 2), "")}</channel></rss>`,
    "JSON lines": () => rows(line, count),
  };
  const packed = Object.entries(honest).map(([name, make]) => [`${name}, packed`, () => gzipSync(make())] as const);
  return {
    ...honest,
    ...Object.fromEntries(packed),
    "CSV: each line opens a quote": () => `${HEADER}\n${times('a,"t\n', bytes)}`,
    "CSV: one row": () => `${HEADER}\n${times("a,", bytes)}`,
    "CSV: one quoted value": () => `${HEADER}\na,"${times('""', bytes)}`,
    "CSV: equal rows": () => `${HEADER}\n${times(`${row(1)}\n`, bytes)}`,
    "CSV: bad rows": () => `${HEADER}\n${times("bad\n", bytes)}`,
    "CSV: the widest header": () => `${HEADER},${times("c,", bytes)}\n${row(1)}`,
    "CSV: carriage returns": () => `${HEADER}\r${times("\r", bytes)}`,
    "CSV: comments": () => `${times("#\n", bytes)}${HEADER}\n`,
    "TSV: each line opens a quote": () => `${HEADER.replaceAll(",", "\t")}\n${times('a\t"t\n', bytes)}`,
    "XML: flat": () => `<rss><channel>${times("<a/>", bytes)}`,
    "XML: flat items": () => `<rss><channel>${times("<item/>", bytes)}</channel></rss>`,
    "XML: nested": () => `<rss>${times("<a>", bytes)}`,
    "XML: attributes": () => `<rss ${Array.from({ length: Math.floor(bytes / 12) }, (_, at) => `a${at}="1"`).join(" ")}>`,
    "XML: entities": () => `<rss><channel><item><guid>${times("&amp;", bytes)}`,
    "XML: declared entities": () => `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${"&a;".repeat(100)}">]><rss>${times("&b;", bytes)}`,
    "XML: one comment": () => `<rss><!-- ${times("- ", bytes)}`,
    "XML: one text": () => `<rss><channel><item><title>${times("x", bytes)}`,
    "JSON lines: nested": () => `{"id":${times("[", bytes)}`,
    "JSON lines: most fields": () => `{${Array.from({ length: Math.floor(bytes / 14) }, (_, at) => `"f${at}":1`).join(",")}}`,
    "JSON lines: long digits": () =>
      `{"id":[${times("12345678901234567,", Math.min(bytes / 2, 1_000_000))}1]}\n`.repeat(Math.ceil(bytes / 1_000_000)),
    "JSON lines: empty objects": () => times("{}\n", bytes),
    "gzip: nested XML": () => gzipSync(`<rss>${"<a>".repeat(4 * bytes)}`),
    "gzip: each line opens a quote": () => gzipSync(`${HEADER}\n${times('a,"t\n', 8 * bytes)}`),
    "gzip: one letter": () => gzipSync(Buffer.alloc(50 * bytes, "a")),
    "gzip: empty parts": () => Buffer.concat(Array.from({ length: Math.floor(bytes / 200) }, () => gzipSync(""))),
    "gzip: cut": () => gzipSync(rows(row, count)).subarray(0, 5_000),
    zeros: () => new Uint8Array(bytes),
    "one letter": () => times("x", bytes),
  };
}
