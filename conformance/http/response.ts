/** A response of the server, or a webhook that arrived. */

export interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
  /** Set by `follow`: what the pages held, and how many there were. */
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
