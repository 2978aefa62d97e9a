/** User data of app events (`ud`): normalized and hashed as the interface wants them, since the server drops every other value. */

const trimmed = (text: string): string => text.trim().toLowerCase();
const digits = (text: string): string => text.replace(/\D/g, "");
const letters = (text: string): string => trimmed(text).replace(/[^\p{L}\p{M}]/gu, "");
const unspaced = (text: string): string => trimmed(text).replace(/\s/g, "");

const normalize = {
  /** E-mail address. */
  em: trimmed,
  /** First name. */
  fn: letters,
  /** Last name. */
  ln: letters,
  /** Phone with country and area code. */
  ph: digits,
  /** Any id of yours, as it is. */
  external_id: (text: string): string => text,
  /** Gender: f or m; anything else counts as unknown. */
  ge: (text: string): string => /^[fm]/.exec(trimmed(text))?.[0] ?? "",
  /** Birthdate: year, month, day. */
  db: digits,
  /** City. */
  ct: unspaced,
  /** State or province, two letters. */
  st: trimmed,
  /** Zip or postal code. */
  zp: digits,
  /** Country, two letters. */
  cn: trimmed,
} satisfies Record<string, (text: string) => string>;

export type UserDataKey = keyof typeof normalize;
export type UserData = { readonly [Key in UserDataKey]?: string };

/** The normalized form of one value; empty if nothing of it can be used. */
export const normalizeUserData = (key: UserDataKey, value: string): string => normalize[key](value);

/** The SHA-256 of each value in its normalized form, in hex: `ud` of `reportAppEvents`. Empty values are left out. */
export async function hashUserData(data: UserData): Promise<UserData> {
  const normalized = Object.entries(data).map(([key, value]) => [key, normalizeUserData(key as UserDataKey, value)] as const);
  const hashed = normalized.filter(([, value]) => value !== "").map(async ([key, value]) => [key, await sha256(value)] as const);
  return Object.fromEntries(await Promise.all(hashed));
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
