/**
 * Hides the parts of web addresses that may contain secrets: the query, the fragment, and a name and password before the host. The module also hides
 * the passwords in addresses of databases.
 */
import { trimmedEnd } from "../text.ts";
import { HIDDEN, redact } from "./redaction.ts";

/**
 * Matches a web address, which ends before the first character that no address can contain. The web address may be plain, in JSON with escaped
 * slashes, or percent-encoded any number of times.
 */
const ADDRESS = /https?(?::|%(?:25)*3a)[^\s"'<>]+/gi;
/** Matches the character that begins a query or a fragment; the character may be plain, escaped in JSON, or percent-encoded. */
const QUERY = /[?#]|\\u003f|%(?:25)*3f|%(?:25)*23/i;
const AUTHORITY = /^https?(?::|%(?:25)*3a)(?:\\?\/|%(?:25)*2f){2}/i;
const SLASH = /\/|%(?:25)*2f/i;
const AT = /@|%(?:25)*40/gi;

/**
 * Hides the secrets in all addresses of a text. The function does not change an address that begins with `kept`, because such an address is a link of
 * the response itself and contains no secrets.
 */
export const hideAddressSecrets = (text: string, kept?: string): string =>
  text.replace(ADDRESS, (found) => (kept !== undefined && found.startsWith(`${kept}?`) ? found : hiddenIn(found)));

function hiddenIn(found: string): string {
  // A percent-encoded address is the value of a form field, so it ends at the next `&`.
  const end = /^https?:/i.test(found) ? -1 : found.indexOf("&");
  const address = end === -1 ? found : found.slice(0, end);
  const after = end === -1 ? "" : found.slice(end);
  const query = QUERY.exec(address);
  const plain = withoutUser(query === null ? address : address.slice(0, query.index));
  if (query === null) return plain + after;
  // If the text is JSON inside a JSON string, the backslash at the end of an address belongs to the escaped quote after the address.
  const ending = address.slice(trimmedEnd(address, "\\").length);
  return plain + query[0] + HIDDEN + ending + after;
}

function withoutUser(address: string): string {
  const start = AUTHORITY.exec(address)?.[0].length ?? 0;
  const slash = SLASH.exec(address.slice(start));
  const authority = address.slice(start, slash === null ? undefined : start + slash.index);
  const at = [...authority.matchAll(AT)].at(-1);
  return at === undefined ? address : address.slice(0, start) + HIDDEN + address.slice(start + at.index);
}

/**
 * Matches the address of a database, and further addresses that follow in a list. The password in the address of a database may contain any
 * character.
 */
const DATABASE = /postgres(?:ql)?:\/\/\S+/gi;
const NEXT_DATABASE = /(?=postgres(?:ql)?:\/\/)/i;

/** Hides the passwords before the host and in the query, in all addresses of databases in a text. */
export const hideDatabasePasswords = (text: string): string =>
  text.replace(DATABASE, (found) => found.split(NEXT_DATABASE).map(withoutPassword).join(""));

function withoutPassword(address: string): string {
  const at = address.lastIndexOf("@");
  const user = address.indexOf(":", address.indexOf("//")) + 1;
  const shown = user === 0 || user > at ? address : address.slice(0, user) + HIDDEN + address.slice(at);
  const query = shown.indexOf("?") + 1;
  return query === 0 ? shown : shown.slice(0, query) + redact(shown.slice(query));
}
