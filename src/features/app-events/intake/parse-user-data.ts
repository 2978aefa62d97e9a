/**
 * Reads user data (`ud[…]`, UD-1). A client converts each value to a normal form and sends the hash of the normal form. This file defines the normal
 * forms of user data, and decides which of the received values are stored. This file has no imports, so that a client library can copy the file
 * unchanged.
 */

/** UD-4 to UD-14: the keys of user data in the interface's document. */
export const userDataKeys = ["em", "fn", "ln", "ph", "external_id", "ge", "db", "ct", "st", "zp", "cn"] as const;
export type UserDataKey = (typeof userDataKeys)[number];

/**
 * The keys of user data that identify one person (D-74). The other keys of user data do not identify a person, because many people have the same
 * first name or live in the same city.
 */
const personKeys = ["em", "ph", "external_id"] as const satisfies readonly UserDataKey[];

const lower = (text: string): string => text.trim().toLowerCase();
const digitsOf = (text: string): string => text.replace(/\D/g, "");

const normalForms: Readonly<Record<UserDataKey, (text: string) => string>> = {
  em: lower, // UD-4
  fn: (text) => lower(text).replace(/[^\p{L}\p{M}]/gu, ""), // UD-5
  ln: (text) => lower(text).replace(/[^\p{L}\p{M}]/gu, ""), // UD-6
  ph: digitsOf, // UD-7
  external_id: (text) => text, // UD-8
  ge: (text) => (/^[fm]/.test(lower(text)) ? lower(text).slice(0, 1) : ""), // UD-9
  db: digitsOf, // UD-10
  ct: (text) => lower(text).replace(/\s/g, ""), // UD-11
  st: lower, // UD-12
  zp: digitsOf, // UD-13
  cn: lower, // UD-14
};

/**
 * Returns the normal form of a value. Clients send the SHA-256 of the normal form (over UTF-8, in lower-case hexadecimal digits) as `ud[key]`. The
 * normal forms are those of the document's table of user data (UD-2, UD-4 to UD-14).
 *
 * | key | normal form | example |
 * |---|---|---|
 * | `em` | without spaces around it, lower case | ` Ada@Example.com ` → `ada@example.com` |
 * | `fn`, `ln` | only lower-case letters | `O'Neill` → `oneill` |
 * | `ph` | only digits; country and area code must be in it | `+49 (30) 123` → `4930123` |
 * | `external_id` | unchanged | |
 * | `ge` | `f` or `m`; anything else is blank | `Female` → `f` |
 * | `db` | only digits: year, month, day | `1990-12-31` → `19901231` |
 * | `ct` | lower case without spaces | `New York` → `newyork` |
 * | `st`, `cn` | the two-letter code in lower case | `DE` → `de` |
 * | `zp` | only digits | `10 115` → `10115` |
 */
export const normalizeUserData = (key: UserDataKey, value: string): string => normalForms[key](value);

/** Matches a SHA-256 in hexadecimal digits of upper or lower case. */
const SHA256 = /^[0-9A-Fa-f]{64}$/;

export const isHashed = (value: unknown): value is string => typeof value === "string" && SHA256.test(value);

export interface UserData {
  /** The hashed values by key, as the client sent them (D-73). */
  readonly kept: Readonly<Partial<Record<UserDataKey, string>>>;
  /**
   * The number of values of user data that were dropped. A value is dropped if it is not a hash, or if its key is not in the interface's document.
   */
  readonly dropped: number;
}

const NO_USER_DATA: UserData = { kept: {}, dropped: 0 };
const known: ReadonlySet<string> = new Set(userDataKeys);

/**
 * UD-3, D-73: returns the hashed values of known keys. All values with other keys and all values that are not hashes are dropped and counted, but the
 * request is not refused.
 */
export function readUserData(input: Readonly<Record<string, unknown>> | undefined): UserData {
  if (input === undefined) return NO_USER_DATA;
  const kept: Partial<Record<UserDataKey, string>> = {};
  let dropped = 0;
  for (const key in input) {
    const value = input[key];
    if (known.has(key) && isHashed(value)) kept[key as UserDataKey] = value;
    else dropped++;
  }
  return { kept, dropped };
}

/** Returns the persons in hashed user data, as `key:hash` in lower case. Equal texts `key:hash` in two requests stand for the same person. */
export function personsOf(kept: UserData["kept"]): string[] {
  const persons: string[] = [];
  for (const key of personKeys) {
    const hash = kept[key];
    if (hash !== undefined) persons.push(`${key}:${hash.toLowerCase()}`);
  }
  return persons;
}
