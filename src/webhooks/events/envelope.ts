/**
 * Makes the request body of a delivery's POST. Each attempt makes the body again from the stored payloads, and the bytes of the body are the same
 * every time (D-62).
 */

export interface Update {
  /** The id of the account or page, as in `entry[].id`. */
  readonly entity: string;
  readonly timeMs: number;
  readonly field: string;
  readonly carriedIn: "changes" | "messaging";
  /** The payload's JSON, as `asciiJson` wrote it. */
  readonly payload: string;
}

/** D-62: writes JSON with each character outside ASCII as `\uXXXX`, so that the bytes are the same in any encoding. */
export function asciiJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError("not JSON");
  return isAscii(text) ? text : text.replace(/[\u0080-\uffff]/g, escaped);
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON text holds no control characters, and the range says what is meant.
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

/**
 * Makes `{object, entry: [{id, time, changes|messaging: […]}]}`. Updates share an entry only if they follow each other and have the same entity,
 * second and key (`changes` or `messaging`), so the order of the updates does not change. `object` and the names of fields come from the catalogue,
 * so they need no escaping.
 */
export function envelopeOf(object: string, updates: readonly Update[]): string {
  let text = "";
  let open: Update | undefined;
  let openSeconds = 0;
  for (const update of updates) {
    const seconds = Math.floor(update.timeMs / 1000);
    if (open !== undefined && open.entity === update.entity && open.carriedIn === update.carriedIn && openSeconds === seconds) text += ",";
    else text += `${open === undefined ? "" : "]},"}{"id":"${update.entity}","time":${seconds},"${update.carriedIn}":[`;
    text += update.carriedIn === "changes" ? `{"field":"${update.field}","value":${update.payload}}` : update.payload;
    open = update;
    openSeconds = seconds;
  }
  return `{"object":"${object}","entry":[${text}${open === undefined ? "" : "]}"}]}`;
}
