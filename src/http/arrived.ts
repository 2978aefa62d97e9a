/** The head of a request as it came from the socket, read without URL or Headers objects. */

export interface Target {
  /** Percent-encoded, beginning with a slash. */
  readonly path: string;
  /** Without `?`. */
  readonly queryText: string;
  /** Of a target in absolute form (`GET http://host/path`), which then stands for the Host header (RFC 9112, 3.2.2). */
  readonly authority: string | undefined;
}

export function splitTarget(target: string): Target {
  let authority: string | undefined;
  let start = 0;
  if (target.charCodeAt(0) !== 47) {
    const scheme = target.indexOf("://");
    if (scheme !== -1) {
      const end = endOfAuthority(target, scheme + 3);
      authority = target.slice(scheme + 3, end);
      start = end;
    }
  }
  const hash = target.indexOf("#", start);
  const end = hash === -1 ? target.length : hash;
  const input = target.indexOf("?", start);
  if (input === -1 || input > end) return { path: rooted(target.slice(start, end)), queryText: "", authority };
  return { path: rooted(target.slice(start, input)), queryText: target.slice(input + 1, end), authority };
}

const rooted = (path: string): string => (path.charCodeAt(0) === 47 ? path : `/${path}`);

function endOfAuthority(target: string, start: number): number {
  let end = start;
  while (end < target.length && target[end] !== "/" && target[end] !== "?" && target[end] !== "#") end++;
  return end;
}

/** Names and values in turn, as the socket gave them. */
export type RawHeaders = readonly string[];

/** A header that was sent twice has both values, joined as HTTP says: two bearer tokens are then no token at all. */
export function findHeader(raw: RawHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const given = raw[i] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name))
      found = found === undefined ? raw[i + 1] : `${found}, ${raw[i + 1]}`;
  }
  return found;
}

/** Headers are Latin-1 and targets ASCII, so that characters are bytes. */
export function headBytes({ path, queryText }: Target, raw: RawHeaders): number {
  let bytes = path.length + queryText.length;
  for (let i = 0; i < raw.length; i++) bytes += (raw[i] as string).length;
  return bytes;
}
