/** JSON lines: one object on each line. */
import { fieldOf, type ItemField, isRequired, type RawItem } from "../product-feeds.items.ts";
import { ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem, type RowReader, type RowSink, type Warning } from "./rows.ts";

export class JsonLinesReader implements RowReader {
  readonly #sink: RowSink;
  #text = "";
  #line = 1;
  /** The rest of the current line is skipped. */
  #isSkipping = false;
  #hasLine = false;

  constructor(sink: RowSink) {
    this.#sink = sink;
  }

  push(text: string): void {
    this.#text += text;
    let start = 0;
    for (let end = this.#text.indexOf("\n"); end !== -1; end = this.#text.indexOf("\n", start)) {
      this.#take(this.#text.slice(start, end));
      start = end + 1;
    }
    this.#text = this.#text.slice(start);
    if (this.#text.length <= ROW_CHARACTERS_MAX) return;
    if (!this.#isSkipping) this.#sink.bad(this.#line, `is longer than ${ROW_CHARACTERS_MAX} characters`);
    this.#isSkipping = true;
    this.#hasLine = true;
    this.#text = "";
  }

  end(): void {
    if (this.#text !== "") this.#take(this.#text);
    if (!this.#hasLine) throw new FeedFileProblem("the file is empty");
  }

  #take(text: string): void {
    const line = this.#line++;
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (text.trim() === "") return;
    this.#hasLine = true;
    if (text.length > ROW_CHARACTERS_MAX) {
      this.#sink.bad(line, `is longer than ${ROW_CHARACTERS_MAX} characters`);
      return;
    }
    const read = readLine(text);
    if (typeof read === "string") this.#sink.bad(line, read);
    else this.#sink.row(line, read.raw, read.warnings);
  }
}

/** Returns the values by field, or the reason why the line is bad. */
function readLine(text: string): { readonly raw: RawItem; readonly warnings: readonly Warning[] } | string {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return "is not valid JSON";
  }
  if (typeof object !== "object" || object === null || Array.isArray(object)) return "is not a JSON object";
  const raw: RawItem = {};
  const ranks = new Map<ItemField, number>();
  const warnings: Warning[] = [];
  for (const [key, value] of Object.entries(object)) {
    const meaning = fieldOf(key);
    if (meaning === undefined || value === null || (ranks.get(meaning.field) ?? meaning.rank) < meaning.rank) continue;
    ranks.set(meaning.field, meaning.rank);
    if (typeof value === "string") raw[meaning.field] = value;
    // JSON.parse loses digits above 2^53.
    else if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) raw[meaning.field] = String(value);
    else if (isRequired(meaning.field)) return `${meaning.field} is not a string`;
    else warnings.push({ field: meaning.field, reason: "is not a string" });
  }
  return { raw, warnings };
}
