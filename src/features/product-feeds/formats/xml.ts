/**
 * Reads RSS 2.0 (and 1.0) and Atom: each `<item>` or `<entry>` is a row, and the elements in it are the values of the row, by their names without a
 * prefix (`g:image_link` is `image_link`). A file whose XML is not well-formed fails, because the reader cannot find the next item after a mistake.
 *
 * **Invariant:** only XML's own five entities are expanded, and document types are ignored, so a file cannot grow by expansion.
 */
import { SaxesParser } from "saxes";
import { type FieldMeaning, fieldOf, type ItemField, type RawItem } from "../product-feeds.items.ts";
import { ROW_CHARACTERS_MAX, VALUE_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem, type RowReader, type RowSink } from "./rows.ts";

const ROOTS = new Set(["rss", "feed", "rdf"]);
const ROWS = new Set(["item", "entry"]);
/**
 * The longest tag or text, because the parser has the whole tag or text in memory. The limit of a text allows the longest value even if each of its
 * characters is written as an entity.
 */
const UNBROKEN_CHARACTERS_MAX = Math.max(8 * VALUE_CHARACTERS_MAX, ROW_CHARACTERS_MAX);

/** The greatest number of open elements, because the parser keeps each open element in memory. Ordinary feeds need only six levels of elements. */
const DEPTH_MAX = 64;
/**
 * Finds an ampersand that does not begin one of XML's own entities. In comments and CDATA sections such an ampersand is not a mistake, because each
 * ampersand is text there.
 */
const OTHER_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi;

type Attributes = Readonly<Record<string, string>>;

/** The `<item>` or `<entry>` that is being read. */
interface OpenRow {
  readonly line: number;
  readonly depth: number;
  readonly raw: RawItem;
  readonly ranks: Map<ItemField, number>;
  /** The field of the open element; undefined if the element is not a field of items. */
  field: ItemField | undefined;
  text: string;
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1).toLowerCase();

export class XmlReader implements RowReader {
  readonly #sink: RowSink;
  readonly #parser = new SaxesParser({ xmlns: false, position: true });
  #depth = 0;
  #row: OpenRow | undefined;
  /** The number of characters since the last event of the parser. The parser may keep the characters since its last event in memory. */
  #unbrokenCharacters = 0;
  /**
   * The line of the first `OTHER_AMPERSAND` since the last event of the parser. The parser notices an ampersand that does not begin an entity only at
   * the next semicolon, which may be many lines below.
   */
  #ampersandLine: number | undefined;
  readonly #repeatedFields = new Set<ItemField>();

  constructor(sink: RowSink) {
    this.#sink = sink;
    const parser = this.#parser;
    parser.on("error", (error) => {
      const problem = error.message.replace(/^[\d:]+ /, "");
      const line = this.#ampersandLine;
      if (line === undefined) throw new FeedFileProblem(`the XML is not well-formed: line ${parser.line}: ${problem}`);
      throw new FeedFileProblem(`the XML is not well-formed: line ${line}: this & must be written as &amp; (${problem})`);
    });
    parser.on("xmldecl", ({ encoding }) => checkEncoding(encoding));
    parser.on("opentag", ({ name, attributes }) => this.#open(localName(name), attributes));
    parser.on("closetag", ({ name }) => this.#close(localName(name)));
    parser.on("text", (text) => this.#take(text));
    parser.on("cdata", (text) => this.#take(text));
    parser.on("comment", () => this.#resetUnbroken());
  }

  push(text: string): void {
    this.#unbrokenCharacters += text.length;
    let start = 0;
    for (const { index } of text.matchAll(OTHER_AMPERSAND)) {
      this.#parser.write(text.slice(start, index));
      this.#ampersandLine ??= this.#parser.line;
      start = index;
    }
    this.#parser.write(text.slice(start));
    if (this.#unbrokenCharacters > UNBROKEN_CHARACTERS_MAX)
      throw new FeedFileProblem(`line ${this.#parser.line}: a tag or text is longer than ${UNBROKEN_CHARACTERS_MAX} characters`);
  }

  end(): void {
    this.#parser.close();
  }

  #resetUnbroken(): void {
    this.#unbrokenCharacters = 0;
    this.#ampersandLine = undefined;
  }

  #open(name: string, attributes: Attributes): void {
    this.#resetUnbroken();
    if (this.#depth === 0 && !ROOTS.has(name)) throw new FeedFileProblem(`the root element is ${name}; it must be rss, feed or rdf:RDF`);
    if (++this.#depth > DEPTH_MAX) throw new FeedFileProblem(`line ${this.#parser.line}: elements are nested more than ${DEPTH_MAX} levels deep`);
    const row = this.#row;
    if (row === undefined) {
      if (!ROWS.has(name)) return;
      this.#row = { line: this.#parser.line, depth: this.#depth, raw: {}, ranks: new Map(), field: undefined, text: "" };
      return;
    }
    const picture = pictureOf(name, attributes);
    if (picture !== undefined) set(row, { field: "image_url", rank: PICTURE_RANK }, picture);
    if (this.#depth !== row.depth + 1) return;
    row.text = "";
    row.field = undefined;
    if (name === "link" && attributes.href !== undefined) {
      if ((attributes.rel ?? "alternate") === "alternate") set(row, { field: "url", rank: 1 }, attributes.href);
    } else row.field = fieldOf(name)?.field;
  }

  #close(name: string): void {
    this.#resetUnbroken();
    const row = this.#row;
    if (row !== undefined && this.#depth === row.depth + 1 && row.field !== undefined) this.#setText(row, fieldOf(name) as FieldMeaning);
    if (row !== undefined && this.#depth === row.depth) {
      this.#row = undefined;
      this.#sink.row(row.line, row.raw);
    }
    // Atom has `<author><name>…</name><email>…</email></author>`; only the name of the author is used.
    if (row?.field === "author" && this.#depth === row.depth + 2) {
      if (name === "name") set(row, { field: "author", rank: 0 }, row.text);
      row.text = "";
    }
    this.#depth--;
  }

  #setText(row: OpenRow, meaning: FieldMeaning): void {
    const { field, rank } = meaning;
    const isRepeated = row.ranks.get(field) === rank && row.text.trim() !== "";
    if (isRepeated && !this.#repeatedFields.has(field)) this.#sink.warn(row.line, field, "the element is repeated; its first value is used");
    if (isRepeated) this.#repeatedFields.add(field);
    set(row, meaning, row.text);
  }

  #take(text: string): void {
    this.#resetUnbroken();
    const row = this.#row;
    if (row?.field === undefined) return;
    // Text beyond `VALUE_CHARACTERS_MAX` is dropped; the kept text is still too long for its field, so the validation of the field refuses it.
    if (row.text.length <= VALUE_CHARACTERS_MAX) row.text += text;
  }
}

function set({ raw, ranks }: OpenRow, { field, rank }: FieldMeaning, value: string): void {
  // If several elements of an item have the same name, the first element is used.
  if ((ranks.get(field) ?? Number.POSITIVE_INFINITY) <= rank) return;
  raw[field] = value;
  ranks.set(field, rank);
}

/**
 * The rank of a picture element. The rank of a picture element is higher than the rank of each name of `image_url`, so that an element with a name of
 * `image_url` has precedence.
 */
const PICTURE_RANK = 100;

/**
 * Returns the address of a picture element: `<enclosure url type="image/…">`, `<media:content>`, `<media:thumbnail>`, `<link rel="enclosure">` or
 * `<itunes:image href>`.
 */
function pictureOf(name: string, { url, href, type, medium, rel }: Attributes): string | undefined {
  const isPicture = medium === "image" || type?.startsWith("image/") === true;
  switch (name) {
    case "enclosure":
    case "content":
      return isPicture ? url : undefined;
    case "thumbnail":
      return url;
    case "link":
      return rel === "enclosure" && isPicture ? href : undefined;
    case "image":
      return href;
    default:
      return undefined;
  }
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || /^(utf-?8|us-ascii)$/i.test(encoding)) return;
  throw new FeedFileProblem(`the file declares the encoding ${encoding}; feeds must be UTF-8`);
}
