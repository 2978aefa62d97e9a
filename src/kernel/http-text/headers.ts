/** Headers of a request that came over HTTP or inside a batch. */

/** The names and values of headers in turn, as they were sent. */
export type RawHeaders = readonly string[];

/**
 * Returns the value of a header, whose name is given in lower case. If the header was sent twice, both values are joined as HTTP says, so two bearer
 * tokens are not a valid token.
 */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const given = headers[i] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name))
      found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  }
  return found;
}
