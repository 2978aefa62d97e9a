/** A response of the server, or a webhook that the receiver got. */

export interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** Set by `follow`: the items of all pages. */
  readonly items?: readonly unknown[];
  readonly pages?: number;
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
