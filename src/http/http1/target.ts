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

export function parseTarget(text: string): Target {
  let authority: string | undefined;
  let start = 0;
  if (text.charCodeAt(0) !== 47) {
    const scheme = text.indexOf("://");
    if (scheme !== -1) {
      const end = endOfAuthority(text, scheme + 3);
      authority = text.slice(scheme + 3, end);
      start = end;
    }
  }
  const hash = text.indexOf("#", start);
  const end = hash === -1 ? text.length : hash;
  const question = text.indexOf("?", start);
  if (question === -1 || question > end) return { text, path: rooted(text.slice(start, end)), queryText: "", authority };
  return { text, path: rooted(text.slice(start, question)), queryText: text.slice(question + 1, end), authority };
}

const rooted = (path: string): string => (path.charCodeAt(0) === 47 ? path : `/${path}`);

function endOfAuthority(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== "/" && text[end] !== "?" && text[end] !== "#") end++;
  return end;
}
