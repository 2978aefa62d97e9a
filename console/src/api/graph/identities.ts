/**
 * The console uses copies of tokens, because the values of the tokens themselves are stored nowhere. The console uses each copy of a token
 * until shortly before the copy expires.
 */
import { api, dataOf } from "../../api/client.ts";

interface Copy {
  readonly value: string;
  readonly untilMs: number;
}

/** The time for which the console uses a copy of a token. The server makes copies of tokens that are valid for ten minutes. */
const USED_MS = 480_000;
const copies = new Map<string, Copy>();

export async function mintCopy(w: string, id: string): Promise<string> {
  const key = `${w} ${id}`;
  const known = copies.get(key);
  if (known !== undefined && known.untilMs > Date.now()) return known.value;
  try {
    const { token } = await dataOf(api.POST("/v1/worlds/{w}/tokens/{id}/copy", { params: { path: { w, id } } }));
    if (token === undefined) throw new Error("the server made no copy of the token");
    copies.set(key, { value: token, untilMs: Date.now() + USED_MS });
    return token;
  } catch (error) {
    // The token has ended, so its copy has ended too. The response of the graph shows whether the token has ended.
    if (known !== undefined) return known.value;
    throw error;
  }
}

/** Call this function after the world's time was moved or tokens were revoked, because the copies of tokens may no longer be valid. */
export function forgetCopies(): void {
  for (const [key, { value }] of copies) copies.set(key, { value, untilMs: 0 });
}
