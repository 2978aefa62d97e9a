/** Headers of a request that arrived over HTTP or inside a batch. */

/** The names and values of headers in alternation, as the client sent them. */
export type RawHeaders = readonly string[];

/**
 * Returns the value of a header, whose name is given in lower case. If the client sent a header twice, the function joins the two values with a
 * comma, as HTTP says. Because repeated values are joined, two bearer tokens do not make a valid token.
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
