/**
 * Decides whether a pattern that a caller wrote may run on this server. The runtime's regular expressions backtrack, so a pattern with many choices
 * can take years to match a short text. A pattern with few choices takes at most a millisecond on a text of limited length.
 */

/** The greatest length of a caller's pattern, in characters. */
const PATTERN_CHARACTERS_MAX = 200;
/**
 * The greatest number of choices in a caller's pattern. Each choice in a pattern may multiply the number of steps by the length of the text. A
 * pattern that does not begin with `^` has one more choice, the position where the match begins.
 */
const CHOICES_MAX = 3;

/** The greatest number in a quantifier of a pattern. */
const REPEATS_MAX = 100;

/** A class of characters, an escaped character, or any other single character of a pattern. */
const ATOM = /\[(?:\\.|[^\]\\])*\]|\\(?:[dDwWsSbBntr]|[^\w])|[^\\[\](){}*+?|]/y;
const QUANTIFIER = /[*+?]\??|\{(\d+)(?:,(\d*))?\}\??/y;

/** Says why the pattern is refused, in words that follow the pattern's name in the error message. Undefined if the pattern is allowed to run. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return `must have at most ${PATTERN_CHARACTERS_MAX} characters`;
  const choices = choicesIn(pattern);
  if (typeof choices === "string") return choices;
  if (choices + (pattern.startsWith("^") ? 0 : 1) > CHOICES_MAX)
    return "has too many of ?, *, +, {n,m} and |: three are allowed, or two without ^ in front";
  try {
    // linear: the lines above have limited the choices of the pattern, and its texts have limited lengths.
    new RegExp(pattern, "u");
    return undefined;
  } catch {
    return "is not a valid regular expression";
  }
}

/** The number of choices in a pattern, or the reason why a piece of the pattern is refused. */
function choicesIn(pattern: string): number | string {
  let [at, choices, depth] = [0, 0, 0];
  /** The item of the pattern before the current position, which decides whether a quantifier may follow. */
  let behind: "nothing" | "character" | "group" = "nothing";
  const next = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at;
    return expression.exec(pattern);
  };
  while (at < pattern.length) {
    const sign = pattern[at];
    const quantifier = behind === "nothing" ? null : next(QUANTIFIER);
    if (quantifier !== null) {
      if (Math.max(Number(quantifier[1] ?? 0), Number(quantifier[2] ?? 0)) > REPEATS_MAX) return `repeats a character more than ${REPEATS_MAX} times`;
      if (behind === "group" && quantifier[0] !== "?") return "repeats a group; only ? may follow a group";
      if (quantifier[1] === undefined || quantifier[2] !== undefined) choices++;
      at += quantifier[0].length;
      behind = "nothing";
    } else if (sign === "(") {
      if (pattern[at + 1] === "?" && pattern[at + 2] !== ":") return "has a group other than ( ) and (?: )";
      at += pattern[at + 1] === "?" ? 3 : 1;
      depth++;
      behind = "nothing";
    } else if (sign === ")") {
      if (--depth < 0) return "is not a valid regular expression";
      at++;
      behind = "group";
    } else if (sign === "|") {
      choices++;
      at++;
      behind = "nothing";
    } else {
      const atom = next(ATOM);
      if (atom === null) return `has a part that is not supported: ${pattern.slice(at, at + 10)}`;
      at += atom[0].length;
      behind = "character";
    }
  }
  return depth === 0 ? choices : "is not a valid regular expression";
}
