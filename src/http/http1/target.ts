/** The target of a request (RFC 9112, 3.2), taken apart without a URL object. */
export interface Target {
  /** As it was sent. */
  readonly text: string;
  /** Percent-encoded, beginning with a slash. */
  readonly path: string;
  /** Without `?`. */
  readonly queryText: string;
  /** Of a target in absolute form (`GET http://host/path`), which then stands for the Host header (RFC 9112, 3.2.2). */
  readonly authority: string | undefined;
}

const ABSOLUTE = /^https?:\/\//i;

/** Undefined for what is neither a path nor an http address: the other forms are for proxies, and `*` names nothing here. */
export function parseTarget(text: string): Target | undefined {
  let authority: string | undefined;
  let start = 0;
  if (text.charCodeAt(0) !== 47) {
    const scheme = ABSOLUTE.exec(text)?.[0];
    if (scheme === undefined) return undefined;
    start = endOfAuthority(text, scheme.length);
    authority = text.slice(scheme.length, start);
  }
  const hash = text.indexOf("#", start);
  const end = hash === -1 ? text.length : hash;
  const question = text.indexOf("?", start);
  if (question === -1 || question > end) return { text, path: rooted(text.slice(start, end)), queryText: "", authority };
  return { text, path: rooted(text.slice(start, question)), queryText: text.slice(question + 1, end), authority };
}

/** An absolute target may leave its path out. */
const rooted = (path: string): string => (path === "" ? "/" : path);

function endOfAuthority(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== "/" && text[end] !== "?" && text[end] !== "#") end++;
  return end;
}
