/**
 * Removes secrets from the texts in the request log and the program's log. The functions find secrets by the structure of the text (forms, queries,
 * JSON and addresses, also inside each other, as in batches) and by names after decoding: `access_token`, `access%5Ftoken`, `x[access_token][]`,
 * `"access\u005ftoken"`. The functions do not change the rest of the text.
 *
 * **Invariant:** if the structure of a text is broken and a secret may follow, the functions remove the whole text after the broken position.
 */
import { endOfString, endOfValue, jsonPrefixLength, skipBlanks, startOfString } from "./json-text.ts";

/** The text that is shown instead of a secret. */
export const HIDDEN = "…";

/** Matches the end of a secret's name: `input_token`, `hub.verify_token`, `app_secret`, `appsecret_proof`, `secure_stream_url`. */
const SECRET_NAME = /(?:token|secret|proof|password|stream_key|stream_url)[^a-z0-9]*$/i;
/**
 * Matches a hint that a text may have the name of a secret. A text without a hint cannot contain the name of a secret in any encoding. A hint is one
 * of the words in the pattern; a percent-encoded letter, which is never necessary; a percent-encoded `%` or backslash, which begins a second
 * encoding; and a JSON escape of a letter.
 */
const HINT = /token|secret|proof|password|stream|%(?:25|5c|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])|\\u/i;
// linear: the pattern is HINT with the flag for repeated searches.
const NEXT_HINT = new RegExp(HINT, "gi");
/** Returns the position of the end of the next hint at `from` or later. The result is -1 if the text has no further hint. */
function endOfHint(text: string, from: number): number {
  NEXT_HINT.lastIndex = from;
  return NEXT_HINT.test(text) ? NEXT_HINT.lastIndex : -1;
}

/** Matches the end of a secret's name that is not encoded. Every link in a list of page messaging contains two names of secrets. */
const PLAIN_END = /token|ecret|proof|sword/i;
/** Matches the name of a secret in unstructured text, such as an error message that repeats a part of a request. */
const QUOTED_NAME = /(?:token|secret|proof|password|stream_key|stream_url)["'`\\\]]+\s*:/i;
/** Whether the value is a word that is never a secret, as in `regenerate_stream_key=true`. */
const isPlainWord = (value: string): boolean => value === "" || value === "true" || value === "false" || value === "null";

/**
 * The greatest depth of nested texts. A form with a batch whose form has another batch has six levels. A text that is nested deeper and has a hint is
 * hidden completely.
 */
const DEPTH_MAX = 8;

/** Redacts text of any structure, as a client or server sent it. */
export const redact = (text: string): string => redactText(text, 0);

/** Redacts JSON that this program wrote, which may be cut off at its end. */
export const redactJson = (text: string): string => redactStrings(text, 0);

/** Whether a name in a form or in JSON is the name of a secret. The name of the field may be encoded. */
export function isSecretName(name: string): boolean {
  const decoded = jsonDecoded(percentDecoded(name));
  return decoded.includes("[") ? decoded.split(/[[\]]/).some((key) => SECRET_NAME.test(key)) : SECRET_NAME.test(decoded);
}

function redactText(text: string, depth: number): string {
  if (depth > DEPTH_MAX) return HINT.test(text) ? HIDDEN : text;
  const first = text.charCodeAt(skipBlanks(text, 0));
  if (first === 123 || first === 91) return redactUntrustedJson(text, depth);
  return text.includes("=") || text.includes("&") ? redactPairs(text, depth) : redactProse(text, depth);
}

/** Redacts the pairs of a form in `text`, from `from` to before `to`. The function decodes only those pairs of name and value that have a hint. */
function redactPairs(text: string, depth: number, from = 0, to = text.length): string {
  let shown = "";
  let at = from;
  for (let hint = endOfHint(text, from); hint !== -1 && hint <= to; hint = endOfHint(text, at)) {
    const next = text.indexOf("&", hint);
    const end = next === -1 || next > to ? to : next;
    if (text.charCodeAt(hint) === 61 && PLAIN_END.test(text.slice(hint - 5, hint))) {
      // The secret is the value of the pair, or of a pair inside the pair's value. The pair and the inner pair end at the same position.
      const value = text.slice(hint + 1, end);
      shown += text.slice(at, hint + 1) + (isPlainWord(value) ? value : HIDDEN);
    } else {
      const start = Math.max(text.lastIndexOf("&", hint - 1) + 1, from);
      shown += text.slice(at, start) + redactPair(text.slice(start, end), depth);
    }
    at = end;
  }
  return shown + text.slice(at, to);
}

function redactPair(pair: string, depth: number): string {
  const equals = pair.indexOf("=");
  const name = equals === -1 ? pair : pair.slice(0, equals);
  const decodedName = formDecoded(name);
  // If a client sent a body with the wrong Content-Type, the whole body may be the name of one pair.
  const shownName = redactText(decodedName, depth + 1);
  if (shownName !== decodedName) return `${formEncoded(shownName)}${equals === -1 ? "" : `=${HIDDEN}`}`;
  if (equals === -1) return pair;
  const value = formDecoded(pair.slice(equals + 1));
  if (isSecretName(decodedName)) return isPlainWord(value) ? pair : `${name}=${HIDDEN}`;
  const shown = redactText(value, depth + 1);
  return shown === value ? pair : `${name}=${formEncoded(shown)}`;
}

/** Redacts text that does not begin as a form or as JSON. Text of an unknown form may contain JSON, or may be encoded once more. */
function redactProse(text: string, depth: number): string {
  if (!HINT.test(text)) return text;
  const brace = text.indexOf("{");
  if (brace !== -1) return text.slice(0, brace) + redactUntrustedJson(text.slice(brace), depth);
  const quoted = text.includes(":") ? QUOTED_NAME.exec(text) : null;
  if (quoted !== null) return text.slice(0, quoted.index + quoted[0].length) + HIDDEN;
  const decoded = percentDecoded(text);
  if (decoded === text) return text;
  const shown = redactText(decoded, depth + 1);
  return shown === decoded ? text : shown;
}

/** Redacts the valid JSON at the beginning of the text, and hides the rest of the text. */
function redactUntrustedJson(text: string, depth: number): string {
  if (!HINT.test(text)) return text;
  const length = jsonPrefixLength(text);
  return redactStrings(text.slice(0, length), depth) + (length === text.length ? "" : HIDDEN);
}

/**
 * Redacts text that is the beginning of valid JSON. The function decodes only the strings that have a hint. Hints occur only in strings, because JSON
 * has the letters of a hint only in strings.
 */
function redactStrings(text: string, depth: number): string {
  let shown = "";
  let at = 0;
  for (let hint = endOfHint(text, 0); hint !== -1; hint = endOfHint(text, at)) {
    const start = startOfString(text, hint - 1, at);
    if (start === -1) break;
    const end = endOfString(text, start);
    if (isPlainLink(text, start, hint, end)) {
      shown += text.slice(at, start + 1) + redactPairs(text, depth + 1, start + 1, end) + text.slice(end, end + 1);
      at = end + 1;
      continue;
    }
    const string = stringOf(text.slice(start + 1, end));
    // The name of a secret may contain another secret: `"http://h/?access_token=abc&q=token": 1`.
    const shownString = redactText(string, depth + 1);
    shown += shownString === string ? text.slice(at, end + 1) : text.slice(at, start) + quoted(shownString);
    at = end + 1;
    const colon = skipBlanks(text, at);
    if (text.charCodeAt(colon) === 58 && isSecretName(string)) {
      const value = skipBlanks(text, colon + 1);
      const valueEnd = endOfValue(text, value);
      shown += text.slice(at, value) + (isPlainWord(text.slice(value, valueEnd)) ? text.slice(value, valueEnd) : `"${HIDDEN}"`);
      at = valueEnd;
    }
  }
  return shown + text.slice(at);
}

/**
 * Whether the JSON string from `start` to `end` is an address with a parameter whose name ends at `hint`. The two links of every list of page
 * messaging are strings of this form. The parameters of these links can be redacted without decoding, because the string has no escapes and is not
 * the name of a member.
 */
function isPlainLink(text: string, start: number, hint: number, end: number): boolean {
  if (text.charCodeAt(hint) !== 61 || !text.startsWith("http", start + 1)) return false;
  const backslash = text.indexOf("\\", start);
  return (backslash === -1 || backslash > end) && text.charCodeAt(skipBlanks(text, end + 1)) !== 58;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
/** Writes the text as a JSON string. Most texts need no escape, and it is faster to check for characters to escape than to call JSON.stringify. */
const quoted = (text: string): string => (NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`);

/** Decodes the text between the quotes of a JSON string. The function drops an escape sequence that was cut off at the end of the text. */
function stringOf(written: string): string {
  if (!written.includes("\\")) return written;
  for (const text of [written, written.slice(0, written.lastIndexOf("\\"))]) {
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {}
  }
  return "";
}

const jsonDecoded = (text: string): string =>
  text.includes("\\u") ? text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))) : text;

const formDecoded = (text: string): string => percentDecoded(text.includes("+") ? text.replaceAll("+", " ") : text);

/** Decodes percent-encoded text. Bytes that are not UTF-8 become U+FFFD, and a `%` without two hexadecimal digits is not changed. */
function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString());
  }
}

const formEncoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll(encodeURIComponent(HIDDEN), HIDDEN);

/**
 * Whether a UTF-16 unit is a letter or a digit. The log search finds an id only as a whole word: `9001` is found in `{"id":"9001"}`, but not in
 * `19001`.
 */
const isWordUnit = (unit: number): boolean => (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);

function mentions(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const after = at + word.length;
    if ((at === 0 || !isWordUnit(text.charCodeAt(at - 1))) && (after === text.length || !isWordUnit(text.charCodeAt(after)))) return true;
  }
  return false;
}

/** Returns the id as JSON may write it, with `\uXXXX` for characters outside ASCII. */
const escaped = (word: string): string =>
  JSON.stringify(word)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns a function that says whether a text contains one of the ids, plain or as JSON writes them. */
export function mentionsOf(ids: readonly string[]): (text: string) => boolean {
  const words = [...new Set(ids.flatMap((id) => [id, JSON.stringify(id).slice(1, -1), escaped(id)]))];
  return (text) => words.some((word) => mentions(text, word));
}
