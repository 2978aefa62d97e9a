/**
 * `npm run sentences -- --seed 1 --count 50`: draws sentences at random, in turn from documents, comments and messages, to be read aloud.
 * With the same seed, the command draws the same sentences as long as the files do not change. `--in src/jobs` draws from one folder or
 * file.
 */
import { parseArgs } from "node:util";
import { ROOT } from "./steps.ts";
import { readRepository } from "./tidy/repository.ts";
import { type Sentence, type SentenceKind, sentencesOf } from "./tidy/sentences.ts";

const KINDS: readonly SentenceKind[] = ["document", "comment", "message"];
/** The least number of words in a drawn sentence, because a shorter text is a label. */
const WORDS_MIN = 4;

/**
 * Draws whole sentences: the same number from documents, comments and messages as long as there are enough sentences, and each sentence
 * at most once.
 */
export function drawSentences(all: readonly Sentence[], seed: number, count: number): Sentence[] {
  const random = randomFrom(seed);
  const long = all.filter(({ text, isPart }) => !isPart && text.split(" ").length >= WORDS_MIN);
  const left = KINDS.map((kind) => long.filter((sentence) => sentence.kind === kind)).filter((sentences) => sentences.length > 0);
  const drawn: Sentence[] = [];
  for (let turn = 0; drawn.length < count && left.some((sentences) => sentences.length > 0); turn++) {
    const sentences = left[turn % left.length] ?? [];
    drawn.push(...sentences.splice(Math.floor(random() * sentences.length), 1));
  }
  return drawn;
}

/** Returns a function that makes random numbers from 0 up to 1 by Mulberry32. The same seed makes the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (import.meta.main) {
  const options = { seed: { type: "string", default: "1" }, count: { type: "string", default: "50" }, in: { type: "string", default: "" } } as const;
  const { values } = parseArgs({ options });
  const files = readRepository(ROOT).filter(({ path }) => path.startsWith(values.in));
  for (const { path, line, text, about = "" } of drawSentences(files.flatMap(sentencesOf), Number(values.seed), Number(values.count)))
    console.log(`${path}:${line}: ${/^\p{Lu}/u.test(text) || about === "" ? "" : `${about}: `}${text}`);
}
