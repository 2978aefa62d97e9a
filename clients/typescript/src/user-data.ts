/** User data of app events (`ud`). The values are normalized and hashed as the interface requires, because the server drops all other values. */

const trimmed = (text: string): string => text.trim().toLowerCase();
const digits = (text: string): string => text.replace(/\D/g, "");
const letters = (text: string): string => trimmed(text).replace(/[^\p{L}\p{M}]/gu, "");
const unspaced = (text: string): string => trimmed(text).replace(/\s/g, "");

const normalize = {
  /** The e-mail address. */
  em: trimmed,
  /** The first name. */
  fn: letters,
  /** The last name. */
  ln: letters,
  /** The phone number with its country code and area code. */
  ph: digits,
  /** Any id of your own; it is not normalized. */
  external_id: (text: string): string => text,
  /** The gender: f or m. Any value except f and m means an unknown gender. */
  ge: (text: string): string => /^[fm]/.exec(trimmed(text))?.[0] ?? "",
  /** The date of birth: year, month, day. */
  db: digits,
  /** The city. */
  ct: unspaced,
  /** The state or province in two letters. */
  st: trimmed,
  /** The zip code or postal code. */
  zp: digits,
  /** The country in two letters. */
  cn: trimmed,
} satisfies Record<string, (text: string) => string>;

export type UserDataKey = keyof typeof normalize;
export type UserData = { readonly [Key in UserDataKey]?: string };

/** Normalizes one value. The result is empty if the value has no usable characters. */
export const normalizeUserData = (key: UserDataKey, value: string): string => normalize[key](value);

/**
 * Replaces each value by the SHA-256 of its normalized form in hex, for `ud` of `reportAppEvents`. A value that is empty after normalizing is left
 * out.
 */
export async function hashUserData(data: UserData): Promise<UserData> {
  const normalized = Object.entries(data).map(([key, value]) => [key, normalizeUserData(key as UserDataKey, value)] as const);
  const hashed = normalized.filter(([, value]) => value !== "").map(async ([key, value]) => [key, await sha256(value)] as const);
  return Object.fromEntries(await Promise.all(hashed));
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
