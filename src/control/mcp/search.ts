/** Finds the sections of pages that may answer a question. */

export interface Section {
  readonly page: string;
  /** The heading of the section. The first section of a page has the page's title as its heading. */
  readonly heading: string;
  /** The text of the section, with its heading. */
  readonly text: string;
}

const made = new WeakMap<ReadonlyMap<string, string>, readonly Section[]>();

/** Returns the sections of all pages. The sections are cached for each map of pages, so that they are found only once. */
export function sectionsIn(pages: ReadonlyMap<string, string>): readonly Section[] {
  const known = made.get(pages) ?? [...pages].flatMap(([page, text]) => sectionsOf(page, text));
  made.set(pages, known);
  return known;
}

function sectionsOf(page: string, text: string): Section[] {
  const found: Section[] = [];
  let [lines, heading, isCode] = [[] as string[], page, false];
  const end = (): void => {
    if (lines.some((line) => line.trim() !== "")) found.push({ page, heading, text: lines.join("\n").trim() });
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const title = isCode ? undefined : /^#{1,3} (.+)$/.exec(line)?.[1];
    if (title !== undefined) {
      end();
      [lines, heading] = [[], title];
    }
    lines.push(line);
  }
  end();
  return found;
}

/** The words that a search ignores, because they say nothing about the subject of a question. */
const EMPTY = new Set([
  "a",
  "an",
  "the",
  "of",
  "to",
  "in",
  "is",
  "how",
  "do",
  "i",
  "for",
  "and",
  "or",
  "with",
  "on",
  "by",
  "what",
  "does",
  "can",
  "it",
]);
/** The greatest number of words of a question that a search uses. */
const WORDS_MAX = 12;
/** The weight of a word that occurs in a heading. A word that occurs only in the text of a section has a weight of about 1. */
const HEADING_WEIGHT = 4;

/**
 * The weights of pages that are reference lists or explain single decisions. Such pages have low weights, because a guide that contains the
 * same words is the better answer.
 */
const WEIGHTS: readonly (readonly [pages: string, weight: number])[] = [
  ["decisions/", 0.6],
  ["reference/commands.md", 0.6],
  ["reference/control-api.md", 0.3],
];
/** The number of words at which the score of a text is halved: a long text gets a lower score, because it probably contains any word. */
const LONG_TEXT_WORDS = 400;

/** Returns the words of a text in lower case. A name such as `createPersona` also counts as the words `create` and `persona`. */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1)
    .map((word) => word.replace(/(?:ies|s)$/, (end) => (end === "ies" ? "y" : "")));

const indexed = new WeakMap<Section, { readonly heading: ReadonlySet<string>; readonly text: ReadonlyMap<string, number>; readonly words: number }>();

function indexOf(section: Section) {
  const known = indexed.get(section);
  if (known !== undefined) return known;
  const text = new Map<string, number>();
  const words = wordsOf(section.text);
  for (const word of words) text.set(word, (text.get(word) ?? 0) + 1);
  const made = { heading: new Set(wordsOf(`${section.heading} ${section.page}`)), text, words: words.length };
  indexed.set(section, made);
  return made;
}

/**
 * Finds the sections that contain words of the question, the best section first. In the score of a section, rare words count more than common words.
 */
export function findSections(sections: readonly Section[], question: string): Section[] {
  const words = [...new Set(wordsOf(question))].filter((word) => !EMPTY.has(word)).slice(0, WORDS_MAX);
  const weights = words.map((word) => {
    const having = sections.filter((section) => indexOf(section).text.has(word)).length;
    return having === 0 ? 0 : Math.log(1 + sections.length / having);
  });
  const score = (section: Section): number => {
    const { heading, text, words: length } = indexOf(section);
    const [, weight] = WEIGHTS.find(([pages]) => section.page.startsWith(pages)) ?? ["", 1];
    return (
      weight *
      words.reduce((sum, word, i) => {
        const count = text.get(word) ?? 0;
        const inText = count === 0 ? 0 : (1 + Math.log(count)) / (1 + length / LONG_TEXT_WORDS);
        return sum + (weights[i] as number) * (inText + (heading.has(word) ? HEADING_WEIGHT : 0));
      }, 0)
    );
  };
  return sections
    .map((section) => ({ section, points: score(section) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .map(({ section }) => section);
}
