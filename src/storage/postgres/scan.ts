/** Splits SQL into tokens, so that nothing is replaced inside strings, quoted names or comments. */
export interface Token {
  /** `literal`: a string, a quoted name, a comment; `word`: keyword, name or number; `mark`: one other character. */
  readonly kind: "space" | "literal" | "word" | "mark";
  readonly text: string;
}

// A string or quoted name doubles its own quote inside; an unclosed one runs to the end, and PostgreSQL reports it.
const TOKEN = /(\s+)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|([\p{L}\p{N}_$]+)|[\s\S]/gu;

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1] !== undefined ? "space" : match[2] !== undefined ? "literal" : match[3] !== undefined ? "word" : "mark";
    tokens.push({ kind, text: match[0] });
  }
  return tokens;
}

/** `?` becomes `$1`, `$2`, … */
export function numbered(text: string): string {
  let count = 0;
  return tokensOf(text)
    .map((token) => (token.kind === "mark" && token.text === "?" ? `$${++count}` : token.text))
    .join("");
}
