/** Makes any number of hostile feed files, the same ones in each run. */
import { gzipSync } from "node:zlib";
import { HEADER, item, line, row } from "./feed-files.ts";

/** Draws the same numbers in each run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const PARTS = [
  ...[
    HEADER,
    HEADER.replaceAll(",", "\t"),
    "sep=;",
    "#",
    "\n",
    "\r",
    "\r\n",
    ",",
    ";",
    "\t",
    '"',
    '""',
    'a,"t\n',
    "\u0000",
    "\uFEFF",
    "é",
    "\uD800",
    "\u2028",
  ],
  ...[
    "<rss>",
    "<channel>",
    "<item>",
    "</item>",
    "</channel>",
    "</rss>",
    "<feed>",
    "<entry>",
    "<a>",
    "</a>",
    "<a/>",
    "<a b='",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
  ],
  ...[
    "<!DOCTYPE r [",
    '<!ENTITY e "',
    "&e;",
    "&#0;",
    "&amp;",
    "<?xml version='1.0' encoding='utf-16'?>",
    "{",
    "}",
    "[",
    "]",
    '{"id":',
    '"',
    ":",
    "1e400",
    "12345678901234567890",
  ],
];

/** Makes the file number `n` of an endless list of files: pieces of all formats that are repeated, nested, cut, changed and packed. */
export function generatedFile(n: number): Uint8Array {
  const below = numbers(n);
  const parts: string[] = [];
  const beginnings = [`${HEADER}\n`, `${HEADER.replaceAll(",", "\t")}\n`, "<rss><channel>", "", '{"id":"a"}\n', "<feed>"];
  parts.push(beginnings[below(beginnings.length)] as string);
  for (let count = below(30); count > 0; count--) {
    const kind = below(10);
    const part = kind === 0 ? row(below(50)) : kind === 1 ? item(below(50)) : kind === 2 ? line(below(50)) : (PARTS[below(PARTS.length)] as string);
    parts.push(part.repeat(1 + (below(4) === 0 ? below(3_000) : below(3))));
    if (below(3) === 0) parts.push("\n");
  }
  const bytes = Buffer.from(parts.join(""));
  for (let changes = below(5); changes > 0 && bytes.length > 0; changes--) bytes[below(bytes.length)] = below(256);
  const cut = below(5) === 0 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
  if (below(4) !== 0) return cut;
  const packed = gzipSync(cut);
  if (below(3) === 0) packed[below(packed.length)] = below(256);
  return below(5) === 0 ? packed.subarray(0, below(packed.length + 1)) : packed;
}
