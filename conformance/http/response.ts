/** A response of the server, or a webhook at the receiver. */

export interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** The items of all pages, if the step has `follow`. */
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
