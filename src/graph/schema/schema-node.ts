/** The JSON Schema words that requests and world files are read by. Another word is refused when its reader is made, which is at start. */
export interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Of a text: a name of `formats.ts`. Without a type, `binary` is a file of multipart/form-data. */
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** What becomes of keys that are not declared; the dialect decides where nothing is said. */
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  /** Stands in for a key that is missing. */
  readonly default?: unknown;
  /** The feature reads it itself, numbers that keep their digits included: large lists, or errors that name more than a parameter. */
  readonly "x-plaza-raw"?: boolean;
  /** Which keys of an object go together, and which exclude each other (`rules.ts`). */
  readonly if?: SchemaNode;
  readonly then?: SchemaNode;
  readonly else?: SchemaNode;
  readonly not?: SchemaNode;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly [TRIMMED]?: true;
  readonly [PROBLEM]?: string;
  readonly [NAMES_OF]?: string;
  readonly [ONLY_IN]?: ServedIn["profile"];
  /** The name of a reading that the dialect has, in place of all other words. */
  readonly [READ_AS]?: string;
  readonly [REFERS_TO]?: RefersTo;
}

/** The node types of which one has the id, and the key of the entry whose node owns it too. */
export interface RefersTo {
  readonly types: readonly string[];
  readonly ownerKey?: string | undefined;
}

/** Names what a schema is a shape of, for documents, where it is that of a node. */
export const SHAPE_OF = "x-plaza-shape-of";

/** White space around a text is not part of it. */
export const TRIMMED = "x-plaza-trimmed";

/** What is said of a value that does not fit, in place of the reader's own words. */
export const PROBLEM = "x-plaza-problem";

/** The names that a text may be, or that the keys of an object may have, where they are known only to a registry or a calendar. */
export const NAMES_OF = "x-plaza-names-of";

/** Alternatives that one profile alone takes. */
export const ONLY_IN = "x-plaza-only-in";

/** Marks a schema whose values are read in a way of their own: ids and times of world files. */
export const READ_AS = "x-plaza-read-as";

/** Which nodes an id of a world file may refer to. */
export const REFERS_TO = "x-plaza-refers-to";

const objectWords = ["if", "then", "else", "not", "dependentRequired"];

const words = new Set([
  ...objectWords,
  ..."type enum const anyOf minLength maxLength pattern format minimum maximum minItems maxItems items properties required".split(" "),
  ..."additionalProperties patternProperties default description title examples x-plaza-raw".split(" "),
  ...[READ_AS, REFERS_TO, TRIMMED, PROBLEM, NAMES_OF, ONLY_IN, SHAPE_OF],
]);

/** Throws an ordinary `Error` for a word that no reader knows: a contract would promise what nothing checks. */
export function checkWords(node: SchemaNode): void {
  for (const word of Object.keys(node))
    if (!words.has(word) || (node.type !== "object" && objectWords.includes(word))) throw new Error(`no value is read by the schema word ${word}`);
}

/** Text that is not empty, without the white space around it. */
export const filledText = (maxLength: number) => ({ minLength: 1, maxLength, [TRIMMED]: true }) as const;

/** An object that has these keys, in words that also those understand who ask what each key is. */
export const having = (...names: readonly string[]) => ({ required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) });

/** In which profile a value is read or documented, and the names that a schema alone does not know. */
export interface ServedIn {
  readonly profile: "strict" | "clients";
  /** By what `x-plaza-names-of` says. */
  namesOf(what: string): readonly string[];
}

/** World files and the control API are read the same in every profile. */
export const everywhere: ServedIn = { profile: "strict", namesOf: () => [] };
