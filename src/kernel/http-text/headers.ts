/** Headers of a request, over HTTP or inside a batch. */

/** Names and values in turn, as they were sent. */
export type RawHeaders = readonly string[];

/** A header that was sent twice has both values, joined as HTTP says: two bearer tokens are then no token at all. `name` is in lower case. */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const given = headers[i] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name))
      found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  }
  return found;
}
