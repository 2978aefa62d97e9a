/** Headers of a request, over HTTP or inside a batch. */

/** Names and values in turn, as they were sent. */
export type RawHeaders = readonly string[];

/** If a header was sent twice, its values are joined as HTTP says, so two bearer tokens are not a valid token. `name` is in lower case. */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const given = headers[i] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name))
      found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  }
  return found;
}
