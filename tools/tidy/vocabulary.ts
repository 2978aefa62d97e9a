/**
 * A newcomer must not learn a private language first: words that only this project used are retired, and the field's terms stand
 * in their place. A retired word is found in names of files, in identifiers (`camelCase` and `SNAKE_CASE` are taken apart) and in
 * prose. Words with an ordinary meaning beside the private one (call, answer, room) are found where a machine can tell the two
 * apart: as identifiers, or in a few phrases.
 */
import ts from "typescript";
import { type Check, eachNode, isCode, lineOf, matchesIn, type Problem, type RepositoryFile } from "./repository.ts";

/** Found everywhere, by the word that stands in its place now. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  pipeline: ["ladder", "ladders", "stair", "stairs", "climb", "climbs", "climbed", "climbing", "ascend", "ascends", "ascended"],
  feature: ["rooms"],
  "public API": ["door", "doors"],
  "standard files": ["furniture"],
  "server, or composition root": ["house", "houses"],
  "webhook delivery": ["office", "offices"],
  "endpoint queue": ["lane", "lanes"],
  "fields of another feature": ["gifts"],
  "metrics, or measurements": ["figure", "figures"],
  "result of a transition, or controlled": ["steered"],
  fixed: ["mend", "mends", "mended", "mending"],
  "the one who acts, by name": ["whoever", "he", "him", "his"],
};

/** Found in identifiers and in the names of files. */
const NAME_WORDS: Readonly<Record<string, readonly string[]>> = {
  feature: ["room"],
  "receive buffer": ["inbox"],
  request: ["call", "calls"],
  response: ["answer", "answers", "answered", "answering"],
  authorization: ["asking"],
  reported: ["told"],
};

/** Found as whole identifiers. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  ResultWriter: ["Ends", "EndsOptions"],
  SchemaNode: ["Words", "FieldWords"],
  PortRegistry: ["ReaderRegistry"],
  PolicyInput: ["Question"],
  "canSee, deny, visibility": ["sees", "refuses", "seenBy"],
  "route, projection": ["matching", "project"],
};

const COUNTED = "(?:an?|the|each|every|one|no|any|another|other|same|of|per|by|in|with|two|three|many|few|fewer|more|(?<!app )\\d[\\d,]*)";

/** Found in prose and in messages; each is linear, because nothing in it repeats. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`\\b${COUNTED} (?:HTTP |graph |control |batch |API )?calls?\\b(?![(:_-])`, "gi"), "request"],
  [/\bcalls?(?:\/s| per | a second)\b/gi, "request"],
  [/\bcalls (?:are|were|have|had|that|which|may|of) /gi, "request"],
  [/\b(?:an?|the|its|their|each|every|no|any|same|whole|first|last|of|in|with|as) answers?\b(?![(:_-])/gi, "response, or result"],
  [/\banswer(?:s|ed)? (?:with )?\d{3}\b/gi, "returns"],
  [/\b(?:is|are|was|were|be|been) told\b/gi, "is reported, or receives"],
  [/\bwords of a contract\b|\bcontract words\b/gi, "the types a contract is written in"],
  // "Room for ten more" is plain English, "a room" is not.
  [/\b(?:an?|the|this|that|each|every|one|another|other|its) room\b|\broom's\b/gi, "feature"],
  [/\bpost office\b/gi, "webhook delivery"],
  [/\bwhat of it\b/gi, "the thing, by name"],
];

/** Names that are not this project's to change, or that stored data hold. */
const EXEMPT: readonly { readonly names: readonly string[]; readonly paths: RegExp; readonly because: string }[] = [
  { names: ["isCallExpression"], paths: /^tools\//, because: "the TypeScript compiler calls it so" },
  { names: ["call"], paths: /^(src\/features\/live-videos\/ingest|test\/live)\//, because: "a field of what nginx's RTMP module sends" },
  {
    names: ["answer"],
    paths: /^(src\/(webhooks|control)|clients\/testing\/generated|console)\//,
    because: "a key of a delivery attempt in the control API",
  },
  {
    names: ["app_calls_per_hour", "page_calls_per_hour", "calls_max", "calls-max", "plaza_calls_total"],
    paths: /./,
    because: "options and metrics that operators use",
  },
  { names: ["lanes"], paths: /^bench\//, because: "the name of a bench, which its earlier results carry" },
  {
    names: ["house", "House", "door"],
    paths: /^(conformance\/worlds|test\/compatibility)\//,
    because: "made-up data: a publishing house, an opened door",
  },
  { names: ["The call has been auto-upgraded"], paths: /./, because: "D-81's text of a header, which callers may look for" },
];

/** The interface's own text, what is written from it, histories, recorded data, others' words; and these lists. */
const NOT_OURS =
  /^spec\/|^CHANGELOG\.md$|^LICENSE$|(^|\/)package-lock\.json$|^docs\/fidelity\.md$|^clients\/[^/]+\/src\/generated\/|^test\/compatibility\/fixtures\/|^tools\/tidy\/vocabulary|^tools\/vocabulary-exceptions\.json$/;

const insteadOf = (lists: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(lists).flatMap(([instead, words]) => words.map((word) => [word, instead] as const)));

const anywhere = insteadOf(WORDS);
const inNames = new Map([...anywhere, ...insteadOf(NAME_WORDS)]);
const asNames = insteadOf(NAMES);

/** Letters that belong together: `#hasFailedEnds` is has, failed, ends; `FIRST_LANE` is first, lane. */
const SUBWORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

interface Find {
  readonly word: string;
  readonly line: number;
  readonly instead: string;
}

function findsIn(file: RepositoryFile): Find[] {
  const exempt = EXEMPT.filter(({ paths }) => paths.test(file.path)).flatMap(({ names }) => names);
  const isExempt = (name: string): boolean => exempt.includes(name.replace(/^#/, ""));
  const text = exempt.length === 0 ? file.text : file.text.replaceAll(new RegExp(`(?<!\\w)(?:${exempt.join("|")})(?!\\w)`, "g"), "_");
  return [
    ...matchesIn(text, SUBWORD).flatMap(({ match: [word], line }) => finds(anywhere.get(word.toLowerCase()), word, line)),
    ...PHRASES.flatMap(([pattern, instead]) => matchesIn(text, pattern).map(({ match, line }) => ({ word: match[0], line, instead }))),
    ...wordsOf(file.path).flatMap((word) => (isExempt(word) ? [] : finds(inNames.get(word), `${word} (in its path)`, 1))),
    ...(isCode(file) ? identifierFinds(file, isExempt) : []),
  ];
}

const finds = (instead: string | undefined, word: string, line: number): Find[] => (instead === undefined ? [] : [{ word, line, instead }]);

const wordsOf = (name: string): string[] => [...name.matchAll(SUBWORD)].map(([word]) => word.toLowerCase());

/** Those that `anywhere` has found already are left out. */
function identifierFinds(file: RepositoryFile, isExempt: (name: string) => boolean): Find[] {
  const found: Find[] = [];
  eachNode(file, (node) => {
    if (!(ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) || isExempt(node.text) || isMethodOfFunctions(node)) return;
    const word = wordsOf(node.text).find((one) => inNames.has(one) && !anywhere.has(one));
    const instead = asNames.get(node.text.replace(/^#/, "")) ?? (word === undefined ? undefined : inNames.get(word));
    found.push(...finds(instead, node.text, lineOf(file, node)));
  });
  return found;
}

/** `Function.prototype.call`. */
const isMethodOfFunctions = (node: ts.Identifier | ts.PrivateIdentifier): boolean =>
  node.text === "call" && ts.isPropertyAccessExpression(node.parent) && ts.isCallExpression(node.parent.parent);

const problemOf = (path: string, { word, line, instead }: Find): Problem => ({
  path,
  line,
  what: `"${word}" is a word of this project's own`,
  fix: `say ${instead}; names that are not ours to change stand in tools/tidy/vocabulary.ts`,
});

/** `exceptions` are paths that still have old words; each is a debt, and one that has none any more is found. */
export const vocabulary =
  (exceptions: readonly string[]): Check =>
  (files) => {
    const problems = files.filter(({ path }) => !NOT_OURS.test(path)).flatMap((file) => findsIn(file).map((find) => problemOf(file.path, find)));
    const owing = new Set(problems.map(({ path }) => path));
    const paid = exceptions.filter((path) => !owing.has(path));
    return [
      ...problems.filter(({ path }) => !exceptions.includes(path)),
      ...paid.map((path) => ({ path: "tools/vocabulary-exceptions.json", line: 1, what: `${path} owes nothing`, fix: "delete its line" })),
    ];
  };
