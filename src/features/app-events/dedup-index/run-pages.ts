/** The pages of a run: its entries, split by fingerprint, as they are stored. */
import { lowOf } from "./fingerprints.ts";
import type { RequestTable } from "./request-table.ts";

/** Entries of one page of a run. At 16 bytes each, a page and its key fit one 4 KiB database page. */
const PAGE_ENTRIES = 240;

/** The number of leading bits, of the low 31, that choose the page of a run. */
export const pageBitsFor = (entryCount: number): number => Math.max(0, Math.ceil(Math.log2(Math.max(1, entryCount) / PAGE_ENTRIES)));

export const pageOf = (fingerprint: number, pageBits: number): number => lowOf(fingerprint) >>> (31 - pageBits);

/** Splits entries into the pages of a run; each page is `[fingerprint, request, fingerprint, request, …]`. */
export function pagesOf(tables: readonly RequestTable[], pageBits: number): Float64Array[] {
  const sizes = new Uint32Array(2 ** pageBits);
  const count = (fingerprint: number) => {
    const page = pageOf(fingerprint, pageBits);
    sizes[page] = (sizes[page] as number) + 2;
  };
  for (const table of tables) table.visit(count);
  const pages = Array.from(sizes, (size) => new Float64Array(size));
  const filled = new Uint32Array(pages.length);
  const put = (fingerprint: number, request: number) => {
    const page = pageOf(fingerprint, pageBits);
    const values = pages[page] as Float64Array;
    const at = filled[page] as number;
    values[at] = fingerprint;
    values[at + 1] = request;
    filled[page] = at + 2;
  };
  for (const table of tables) table.visit(put);
  return pages;
}

/** Adds to `found` the requests of a fingerprint in a stored page. */
export function collectInPage(bytes: Uint8Array, fingerprint: number, found: number[]): void {
  const values = new Float64Array(bytes.slice().buffer);
  for (let i = 0; i < values.length; i += 2) if (values[i] === fingerprint) found.push(values[i + 1] as number);
}
