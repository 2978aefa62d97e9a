/** Reads long JSON in pieces. `JSON.parse` blocks the event loop, so the reader of long JSON lets other requests run after each piece. */
import { nextTurn } from "../turns.ts";
import { InexactNumber, parseExactJson } from "./exact-json.ts";

/**
 * The greatest number of characters that are parsed at once. `JSON.parse` needs some 7 ms for the slowest piece of this size, an object whose names
 * are all different (measured).
 */
const PIECE_CHARACTERS = 65_536;

/** The error about JSON that nests deeper than its reader allows. */
export class TooDeepJson extends Error {
  constructor(
    /** The position of the first bracket that is nested too deep. */
    readonly at: number,
  ) {
    super("the JSON nests too deep");
    this.name = "TooDeepJson";
  }
}

/** The error about a value in a list or object that is longer than its reader allows. */
export class LongJsonValue extends Error {
  constructor(
    /** The position of the value, or of the name before the value. */
    readonly at: number,
    charactersMax: number,
  ) {
    super(`a value of the JSON has more than ${charactersMax} characters`);
    this.name = "LongJsonValue";
  }
}

/** A range of the text. The character at `end` does not belong to the range. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value in a list or object, including the blanks around it. */
interface Member extends Span {
  /** The position of the colon after the name. The position is -1 if the value has no name. */
  readonly colon: number;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The length of the longest escape, such as `\u00e9`. */
const ESCAPE_CHARACTERS = 6;

const notJson = (): SyntaxError => new SyntaxError("the text is not JSON");

/**
 * Reads a long JSON text. All methods of the reader throw `InexactNumber` for a number that a float cannot represent, and a `SyntaxError` for a range
 * that is not JSON.
 */
export class LongJson {
  readonly #text: string;
  readonly #valueMax: number;
  readonly #piece: number;

  /** `valueCharactersMax` is the greatest length of a value in a list or object that `value` and `items` accept. */
  constructor(text: string, valueCharactersMax = Number.POSITIVE_INFINITY, pieceCharacters = PIECE_CHARACTERS) {
    this.#text = text;
    this.#valueMax = valueCharactersMax;
    this.#piece = pieceCharacters;
  }

  isList = ({ start }: Span): boolean => this.#text.charCodeAt(start) === OPEN_BRACKET;
  isObject = ({ start }: Span): boolean => this.#text.charCodeAt(start) === OPEN_BRACE;
  isString = ({ start }: Span): boolean => this.#text.charCodeAt(start) === QUOTE;

  /**
   * Yields the members of the object that is the whole text, in the order of the text. The name of a member may occur twice. Throws `TooDeepJson` if
   * the text is nested deeper than `depthMax`.
   */
  async *members(depthMax: number): AsyncGenerator<Span & { readonly name: string }> {
    const whole = await this.#trimmed({ start: 0, end: this.#text.length });
    if (!this.isObject(whole)) throw notJson();
    for (const member of this.#membersOf(whole, depthMax)) {
      if (member === undefined) await nextTurn();
      else yield { name: this.#nameOf(member), ...(await this.#trimmed({ start: member.colon + 1, end: member.end })) };
    }
  }

  async value(span: Span): Promise<unknown> {
    if (span.end - span.start <= this.#piece) return this.#read(span);
    const trimmed = await this.#trimmed(span);
    if (this.isString(trimmed)) return this.#string(trimmed);
    if (this.isList(trimmed)) return (await Array.fromAsync(this.#piecesOf(trimmed))).flat(1);
    if (this.isObject(trimmed)) return Object.fromEntries((await Array.fromAsync(this.#piecesOf(trimmed), Object.entries)).flat(1));
    const { start, end } = trimmed;
    if (end - start <= PIECE_CHARACTERS) return this.#read(trimmed);
    throw /[-\d]/.test(this.#text.charAt(start)) ? new InexactNumber(this.#text.slice(start, start + 50), "") : notJson();
  }

  /** Yields the items of a list in groups that are small enough to be parsed at once. */
  async *items(list: Span): AsyncGenerator<readonly unknown[]> {
    for await (const items of this.#piecesOf(await this.#trimmed(list))) {
      yield items as unknown[];
      await nextTurn();
    }
  }

  /**
   * Returns the position of a value inside the object that is the whole text. `steps` has the names and indexes that lead to the value. If the value
   * does not exist, the result is the position of the innermost existing value around it. The result is undefined if the first name in `steps` does
   * not exist.
   */
  async placeOf(steps: readonly (string | number)[]): Promise<number | undefined> {
    let around = await this.#trimmed({ start: 0, end: this.#text.length });
    let place: number | undefined;
    for (const step of steps) {
      const member = (typeof step === "number" ? this.isList(around) : this.isObject(around)) ? await this.#member(around, step) : undefined;
      if (member === undefined) break;
      around = await this.#trimmed({ start: member.colon === -1 ? member.start : member.colon + 1, end: member.end });
      place = around.start;
    }
    return place;
  }

  async #member(whole: Span, step: string | number): Promise<Member | undefined> {
    let index = 0;
    for (const member of this.#membersOf(whole, Number.POSITIVE_INFINITY)) {
      if (member === undefined) await nextTurn();
      else if (typeof step === "number" ? index++ === step : this.#nameOf(member) === step) return member;
    }
    return undefined;
  }

  #read = ({ start, end }: Span): unknown => parseExactJson(this.#text.slice(start, end));

  /** Parses a long list or object as several smaller lists or objects, each with some of the members. */
  async *#piecesOf(whole: Span): AsyncGenerator<object> {
    const [open, close] = this.isList(whole) ? ["[", "]"] : ["{", "}"];
    let piece: Span | undefined;
    const readPiece = ({ start, end }: Span): object => {
      const text = this.#text.slice(start, end);
      // In JSON there must be a value before and after each comma.
      if (isBlank(text)) throw notJson();
      return parseExactJson(open + text + close) as object;
    };
    for (const member of this.#membersOf(whole, Number.POSITIVE_INFINITY)) {
      if (member === undefined) {
        await nextTurn();
        continue;
      }
      if (member.end - member.start > this.#valueMax) throw new LongJsonValue(member.start, this.#valueMax);
      if (piece !== undefined && member.end - piece.start > this.#piece) {
        yield readPiece(piece);
        piece = undefined;
        await nextTurn();
      }
      if (member.end - member.start <= this.#piece) piece = { start: piece?.start ?? member.start, end: member.end };
      else if (open === "[") yield [await this.value(member)];
      else yield Object.fromEntries([[this.#nameOf(member), await this.value({ start: member.colon + 1, end: member.end })]]);
    }
    if (piece !== undefined) yield readPiece(piece);
  }

  /**
   * Finds the members of the list or object in this range. The generator yields undefined when other requests should run. The method checks the
   * brackets of this list or object; the rest of the JSON is checked when the members are parsed.
   */
  *#membersOf({ start, end }: Span, depthMax: number): Generator<Member | undefined> {
    const text = this.#text;
    const closing = this.isList({ start, end }) ? CLOSE_BRACKET : CLOSE_BRACE;
    let depth = 0;
    let isInString = false;
    let from = start + 1;
    let colon = -1;
    let turnEnd = start + this.#piece;
    for (let at = start; at < end; at++) {
      if (at >= turnEnd) {
        turnEnd = at + this.#piece;
        yield undefined;
      }
      const unit = text.charCodeAt(at);
      if (isInString) {
        if (unit === BACKSLASH) at++;
        else if (unit === QUOTE) isInString = false;
      } else if (unit === QUOTE) isInString = true;
      else if (unit === OPEN_BRACKET || unit === OPEN_BRACE) {
        if (++depth > depthMax) throw new TooDeepJson(at);
      } else if (unit === CLOSE_BRACKET || unit === CLOSE_BRACE) {
        if (--depth > 0) continue;
        if (unit !== closing || at !== end - 1) throw notJson();
        if (from > start + 1 || !isBlank(text.slice(from, at))) yield { start: from, end: at, colon };
        return;
      } else if (depth !== 1) continue;
      else if (unit === COMMA) {
        yield { start: from, end: at, colon };
        from = at + 1;
        colon = -1;
      } else if (unit === COLON && colon === -1) colon = at;
    }
    throw notJson();
  }

  #nameOf({ start, colon }: Member): string {
    if (colon === -1 || colon - start > PIECE_CHARACTERS) throw notJson();
    const name: unknown = JSON.parse(this.#text.slice(start, colon));
    if (typeof name !== "string") throw notJson();
    return name;
  }

  async #string({ start, end }: Span): Promise<string> {
    if (this.#text.charCodeAt(end - 1) !== QUOTE) throw notJson();
    const parts: string[] = [];
    for (let from = start + 1; from < end - 1; ) {
      const to = from + this.#piece < end - 1 ? this.#endOfEscapes(from, from + this.#piece) : end - 1;
      parts.push(JSON.parse(`"${this.#text.slice(from, to)}"`) as string);
      from = to;
      await nextTurn();
    }
    return parts.join("");
  }

  /** Returns the last position up to `at` that is not inside an escape sequence. `from` must be a position that is not inside an escape sequence. */
  #endOfEscapes(from: number, at: number): number {
    const backslash = this.#text.lastIndexOf("\\", at - 1);
    if (backslash < from || at - backslash >= ESCAPE_CHARACTERS) return at;
    let first = backslash;
    while (first > from && this.#text.charCodeAt(first - 1) === BACKSLASH) first--;
    // In a pair of backslashes, the first backslash escapes the second one.
    return (backslash - first) % 2 === 0 ? backslash : at;
  }

  /** Returns the range of JSON without the blanks at its beginning and end. */
  async #trimmed({ start, end }: Span): Promise<Span> {
    let [first, last] = [start, end];
    const isBlankAt = (at: number): boolean => isBlankUnit(this.#text.charCodeAt(at));
    while (first < last && isBlankAt(first)) if (++first % PIECE_CHARACTERS === 0) await nextTurn();
    while (last > first && isBlankAt(last - 1)) if (--last % PIECE_CHARACTERS === 0) await nextTurn();
    return { start: first, end: last };
  }
}

const isBlankUnit = (unit: number): boolean => unit === 32 || unit === 10 || unit === 13 || unit === 9;
const isBlank = (text: string): boolean => !/[^ \t\n\r]/.test(text);
