/** Translates the statement of a migration to PostgreSQL. The shared subset has no other differences. */
import { type Token, tokensOf } from "./scan.ts";

/**
 * In CREATE TABLE and ALTER TABLE: a column's type `TEXT` becomes `TEXT COLLATE "C"` (text compares bytewise, as in
 * SQLite), and `WITHOUT ROWID` at the end is removed. Every other statement, and every other `text`, is unchanged.
 */
export function postgresStatement(statement: string): string {
  const tokens = tokensOf(statement);
  const words = tokens.filter(({ kind }) => kind !== "space");
  if (isWord(words[1], "TABLE") && isWord(words[0], "CREATE")) return createTable(tokens);
  if (isWord(words[1], "TABLE") && isWord(words[0], "ALTER")) return alterTable(tokens);
  return statement;
}

const isWord = (token: Token | undefined, word: string): boolean => token?.kind === "word" && token.text.toUpperCase() === word;

/** A column's type is the second token of its definition; definitions are in the outer parentheses, separated by commas. */
function createTable(tokens: readonly Token[]): string {
  let depth = 0;
  let position = 0;
  let text = "";
  for (const token of tokens) {
    const mark = token.kind === "mark" ? token.text : "";
    if (mark === "(" && ++depth === 1) position = 0;
    else if (mark === ")") depth--;
    else if (mark === "," && depth === 1) position = 0;
    else if (token.kind !== "space" && !isComment(token)) position++;
    text += depth === 1 && position === 2 && isWord(token, "TEXT") ? `${token.text} COLLATE "C"` : token.text;
  }
  // Only the table's options follow the last parenthesis, so the end cannot be part of a literal.
  return text
    .trimEnd()
    .replace(/\sWITHOUT\s+ROWID$/i, "")
    .trimEnd();
}

const isComment = ({ kind, text }: Token): boolean => kind === "literal" && (text.startsWith("--") || text.startsWith("/*"));

/** `ADD [COLUMN] name TEXT`, the only form that both databases support. */
function alterTable(tokens: readonly Token[]): string {
  const words = tokens.filter((token) => token.kind !== "space" && !isComment(token));
  const add = words.findIndex((token) => isWord(token, "ADD"));
  const type = words[isWord(words[add + 1], "COLUMN") ? add + 3 : add + 2];
  return tokens.map((token) => (add > 0 && token === type && isWord(token, "TEXT") ? `${token.text} COLLATE "C"` : token.text)).join("");
}
