/** Finds the sentences of the repository in documents, in comments, and in messages, which are texts in string literals. */
import ts from "typescript";
import { eachNode, isCode, isDocument, isTest, type RepositoryFile, treeOf } from "./repository.ts";

export type SentenceKind = "document" | "comment" | "message";

export interface Sentence {
  readonly kind: SentenceKind;
  readonly path: string;
  /** The number of the line on which the sentence begins, counted from 1. */
  readonly line: number;
  readonly text: string;
  /** Whether the sentence begins its paragraph, item, cell, comment or message. */
  readonly isFirst: boolean;
  /** Whether the sentence needs a text around it to be understood: a cell, an item after a lead-in, or a literal inside of another message. */
  readonly isPart: boolean;
  /** The option, parameter or property that the sentence is about, if a message does not name it itself. */
  readonly about?: string | undefined;
}

/** One text of a file: a paragraph, an item of a list, a cell of a table, a comment or a message. */
interface Passage {
  readonly lines: readonly { readonly text: string; readonly line: number }[];
  readonly isPart: boolean;
  readonly about?: string | undefined;
}

/** Matches the pages that commands write from texts in the sources. */
const GENERATED = /^Written by `npm run (?:docs|bench)`/m;

/** Returns the sentences of a file. Generated pages have no sentences, because their texts are already in the sources. */
export function sentencesOf(file: RepositoryFile): Sentence[] {
  if (GENERATED.test(file.text)) return [];
  if (isDocument(file)) return passagesOfDocument(file.text).flatMap((passage) => split(passage, file.path, "document"));
  if (!isCode(file)) return [];
  const comments = commentsOf(file).flatMap((passage) => split(passage, file.path, "comment"));
  return isTest(file) ? comments : [...comments, ...messagesOf(file).flatMap((passage) => split(passage, file.path, "message"))];
}

/** Matches the space between two sentences: after a full stop, also in a bracket or emphasis, and before a capital letter, code or emphasis. */
const SENTENCE_END = /(?<=[.!?]|[.!?][)*"])(?<!\b(?:e\.g|i\.e)\.)\s+(?=[A-Z`*"[(])/g;

function split({ lines, isPart, about }: Passage, path: string, kind: SentenceKind): Sentence[] {
  const starts: { at: number; line: number }[] = [];
  let whole = "";
  for (const { text, line } of lines) {
    starts.push({ at: whole.length, line });
    whole += `${text.trim()} `;
  }
  // A full stop inside code does not end a sentence.
  const masked = whole.replaceAll(/`[^`]*`/g, (code) => `\`${"-".repeat(code.length - 2)}\``);
  const ends = [...masked.matchAll(SENTENCE_END)].map(({ index }) => index);
  return [0, ...ends].flatMap((begin, nth): Sentence[] => {
    const part = whole.slice(begin, ends[nth]);
    const text = part.trim();
    const textBegin = begin + part.indexOf(text);
    const line = starts.findLast((start) => start.at <= textBegin)?.line ?? 1;
    return text === "" ? [] : [{ kind, path, line, text, isFirst: nth === 0, isPart, ...(nth === 0 && { about }) }];
  });
}

const FENCE = /^\s*```/;
const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;
/** Matches an item of a list that does not begin like a sentence. */
const ITEM_PART = /^\s*(?:[-*]|\d+\.)\s+\p{Ll}/u;

/** Splits a document into texts, without headings, code blocks and comments of Markdown. */
function passagesOfDocument(document: string): Passage[] {
  const passages: Passage[] = [];
  let open: { text: string; line: number }[] = [];
  let isPart = false;
  let leadsIn = false;
  const close = (): void => {
    if (open.length > 0) passages.push({ lines: open, isPart });
    open = [];
  };
  let isInCode = false;
  for (const [at, text] of document.split("\n").entries()) {
    const line = at + 1;
    if (FENCE.test(text)) isInCode = !isInCode;
    const isTable = text.trimStart().startsWith("|");
    if (isInCode || FENCE.test(text) || isTable || /^\s*(?:#|<!--|$)/.test(text)) {
      close();
      if (isTable && !isInCode) passages.push(...cellsOf(text).map((cell) => ({ lines: [{ text: cell, line }], isPart: true })));
      continue;
    }
    if (ITEM.test(text)) {
      close();
      isPart = leadsIn || ITEM_PART.test(text);
    } else if (open.length === 0) isPart = leadsIn = false;
    if (text.endsWith(":")) leadsIn = true;
    open.push({ text: text.replace(ITEM, ""), line });
  }
  close();
  return passages;
}

const cellsOf = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => /[a-z]/.test(cell));

/** Matches a line of a comment that a tool reads. */
const DIRECTIVE = /^\s*(?:biome-ignore|@ts-expect-error)\b/;

/** Returns the comments of a file, without lines for tools. Line comments that follow each other are one text. */
function commentsOf(file: RepositoryFile): Passage[] {
  const tree = treeOf(file);
  const ranges = new Map<number, ts.CommentRange>();
  eachNode(file, (node) => {
    const found = [
      ...(ts.getLeadingCommentRanges(file.text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(file.text, node.end) ?? []),
    ];
    for (const range of found) ranges.set(range.pos, range);
  });
  const passages: { lines: { text: string; line: number }[]; end: number; isPart: boolean }[] = [];
  for (const { pos, end } of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const line = tree.getLineAndCharacterOfPosition(pos).line + 1;
    const lines = file.text
      .slice(pos, end)
      .split("\n")
      .map((text, at) => ({ text: text.replace(/^\s*(?:\/\*\*?|\/\/|\*(?!\/))|\*\/$/g, "").replace(/\*\/$/, ""), line: line + at }))
      .filter(({ text }) => !DIRECTIVE.test(text));
    const last = passages.at(-1);
    if (last !== undefined && file.text.startsWith("//", pos) && /^\n\s*$/.test(file.text.slice(last.end, pos))) {
      last.lines.push(...lines);
      last.end = end;
    } else passages.push({ lines, end, isPart: false });
  }
  return passages;
}

/** The least number of words in a message, because a shorter text is a name. */
const MESSAGE_WORDS_MIN = 4;

function messagesOf(file: RepositoryFile): Passage[] {
  const passages: Passage[] = [];
  eachNode(file, (node) => {
    const text = messageOf(node);
    if (text === undefined || isProgram(text)) return;
    const line = treeOf(file).getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const isInside = PART.test(text) || ts.findAncestor(node.parent, (outer) => isSum(outer) || ts.isTemplateSpan(outer)) !== undefined;
    for (const { lines, isPart } of passagesOfMessage(text.replaceAll(TAG, ""))) {
      const passage = lines.map(({ text }) => ({ text: text.replaceAll(/\s+/g, " "), line }));
      if (wordsIn(passage.map(({ text }) => text).join(" ")) >= MESSAGE_WORDS_MIN)
        passages.push({ lines: passage, isPart: isInside || isPart, about: aboutOf(node) });
    }
  });
  return passages;
}

/** The names of properties that hold a text about the property around them. */
const LABELS: ReadonlySet<string> = new Set(["description", "summary"]);

/** Returns the first argument of a call whose later argument is the message, or the name of the property whose value contains the message. */
function aboutOf(node: ts.Node): string | undefined {
  const { parent } = node;
  const [first] = ts.isCallExpression(parent) || ts.isNewExpression(parent) ? (parent.arguments ?? []) : [];
  if (first !== undefined && first !== node && ts.isStringLiteral(first)) return first.text;
  const property = ts.findAncestor(parent, (outer) => (ts.isFunctionLike(outer) ? "quit" : nameOf(outer) !== undefined));
  return property && nameOf(property);
}

function nameOf(node: ts.Node): string | undefined {
  if (!ts.isPropertyAssignment(node) || !(ts.isIdentifier(node.name) || ts.isStringLiteral(node.name))) return undefined;
  return LABELS.has(node.name.text) ? undefined : node.name.text;
}

/** Matches a message that is only a part of a longer message, because it begins or ends with a space or with punctuation. */
const PART = /^[ ,;.)]|[ ,(]$/;

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /^[\p{L}'-]+[.,:;]?$/u.test(word)).length;

/** Matches a tag of HTML. */
const TAG = /<\/?[a-z][^<>]*>/g;

/** Splits a message of several lines: such a message is a page of Markdown, or a list of options with explanations in a second column. */
const passagesOfMessage = (text: string): Passage[] =>
  text.includes("\n") ? passagesOfDocument(text.replaceAll(/^ *\S.*? {2,}(?=\S)/gm, "\n- ")) : [{ lines: [{ text, line: 1 }], isPart: false }];

/** Matches SQL by its first words. */
const SQL_START = /^[\s,(…]*(?:SELECT|FROM|WHERE|AND|ORDER BY|EXISTS|VALUES|WITH|INSERT INTO|UPDATE|DELETE FROM|FOR UPDATE|CREATE|ALTER) /;
/** Matches keywords of SQL, which prose does not have in capitals. */
const SQL_WORD = /\b(?:SELECT|FROM|WHERE|JOIN|ORDER BY|LIMIT|NOT NULL|INTO|VALUES)\b/g;

/** Matches signs of code and data: arrows, docstrings, certificates, scripts, statements, rules of CSS, functions of SQL and cells of CSV. */
const CODE_SIGN =
  /=>|^\/\*\*|-----BEGIN |^#!|^#compdef|^\s*(?:const|export|function|import|local|readonly) |;\s*(?:\}|$)|: [^\s;]+;\s*\w+: |\b(?:CAST\([\w?]|CASE WHEN|ON CONFLICT)|\w,"|^\w+,\w+,|\{id: /m;
/** Matches a word that occurs in nearly every sentence, but not in a list of names or in a configuration. */
const PROSE_WORD =
  /\b(?:The|An?|No|How|All|a|an|and|are|as|at|be|by|can|cannot|for|from|has|have|in|is|it|may|must|no|not|of|on|only|or|than|that|the|this|to|was|were|with)\b/;

/** Whether a text is SQL, data, or code in another language. */
const isProgram = (text: string): boolean =>
  SQL_START.test(text) || (text.match(SQL_WORD)?.length ?? 0) > 1 || CODE_SIGN.test(text) || !PROSE_WORD.test(text);

/**
 * Returns the message of a string literal, or of literals joined with `+`. Values between the literals are shown as `…`. A tagged template is SQL, so
 * it is not a message.
 */
function messageOf(node: ts.Node): string | undefined {
  if (isSum(node.parent)) return undefined;
  if (!isSum(node)) return textOf(node);
  const texts = partsOf(node).map(textOf);
  return texts.every((text) => text === undefined) ? undefined : texts.map((text) => text ?? "…").join("");
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return isTagged(node) ? undefined : node.text;
  if (!ts.isTemplateExpression(node) || isTagged(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
}

const isSum = (node: ts.Node | undefined): node is ts.BinaryExpression =>
  node !== undefined && ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;

const partsOf = (node: ts.Expression): ts.Expression[] => (isSum(node) ? [...partsOf(node.left), node.right] : [node]);

const isTagged = (node: ts.Node): boolean => ts.isTaggedTemplateExpression(node.parent);
