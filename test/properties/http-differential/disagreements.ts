/**
 * The byte streams about which Plaza's reader of HTTP/1.1 and Node's reader may disagree, each with its reason. The rule behind the list of
 * disagreements: Plaza may refuse a request that Node accepts, if two readers could understand the request differently. Plaza never accepts a request
 * that Node does not read, except for the reasons in `broader`.
 */

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** The names and values of the headers, alternating. */
  readonly headers: readonly string[];
  /** The request body; `null` if the request was incomplete or was refused. */
  readonly body: string | null;
}

export interface Outcome {
  readonly requests: readonly SeenRequest[];
  /**
   * How the reading of the stream ended. `closed`: the request was the last one of its connection, and the reader did not read the bytes after it.
   */
  readonly end: "open" | "closed" | "refused";
  /** The reason for the refusal, in the reader's own words. */
  readonly problem?: string;
}

interface NodeRequest extends SeenRequest {
  readonly version: string;
}

interface Reason {
  readonly why: string;
  /**
   * The results of Plaza that the reason allows; undefined in the list means that Plaza reads on and Node does not. If there is no list of results,
   * the reason allows any result.
   */
  readonly problems?: readonly (string | undefined)[];
  /** After this disagreement, the two readers read different requests from the same bytes. With any other reason, one of the two readers stops. */
  readonly diverges?: true;
  explains(disagreement: Disagreement): boolean;
}

interface Disagreement {
  readonly stream: string;
  /** The last request on which both readers agree. */
  readonly last: SeenRequest | undefined;
  /** The first request that only Node has read. */
  readonly next: NodeRequest | undefined;
  readonly node: Outcome;
}

const valuesOf = ({ headers }: SeenRequest, name: string): string[] =>
  headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name);

const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;

const isUnclear = (request: NodeRequest): boolean => {
  const [lengths, codings] = [valuesOf(request, "content-length"), valuesOf(request, "transfer-encoding")];
  if (codings.length > 0) return codings.length > 1 || codings[0]?.toLowerCase() !== "chunked" || lengths.length > 0 || request.version === "1.0";
  return lengths.length > 1 || !/^\d{1,15}$/.test(lengths[0] ?? "0");
};

const isChunked = (request: SeenRequest): boolean => valuesOf(request, "transfer-encoding").length > 0;
const FRAMING_TRAILER = /\r\n0[^\r\n]*\r\n(?:[^\r\n]+\r\n)*?(?:connection|content-length|transfer-encoding):/i;

const NO_HEAD = "the request line or a header contains a character that is not allowed";
const NO_METHOD = "the request does not begin with a method in upper case";

const reasons: readonly Reason[] = [
  {
    why: "RFC 9112, 3.2 asks for one valid Host; Node accepts any number of Host headers with any values",
    problems: ["the Host header is missing, malformed or repeated"],
    explains: ({ next }) => next !== undefined && (valuesOf(next, "host").length !== 1 || !HOST.test(valuesOf(next, "host")[0] ?? "")),
  },
  {
    why: "the transfer coding is not chunked, is empty, or is chunked in HTTP/1.0: proxies read these differently (RFC 9112, 6.1)",
    problems: ["the length of the request body is unclear: send one Content-Length, or Transfer-Encoding: chunked"],
    explains: ({ next }) => next !== undefined && isUnclear(next),
  },
  {
    why: "only proxies use targets that are neither a path nor an http address; `*` names nothing here (D-01)",
    problems: ["the request target is neither a path nor an http address"],
    explains: ({ next }) => next !== undefined && !/^(?:\/|https?:\/\/)/i.test(next.target),
  },
  {
    why: "the authority of an absolute target replaces the Host header, so the same rules apply to it",
    problems: ["the address in the request line has no valid host"],
    explains: ({ next }) => next !== undefined && !HOST.test(/^https?:\/\/([^/?#]*)/i.exec(next.target)?.[1] ?? "h"),
  },
  {
    why: "Node reads a line without a version as HTTP/0.9, and several blanks as one",
    problems: ["the first line is malformed", NO_HEAD],
    explains: ({ next, stream }) =>
      next !== undefined && (next.version === "0.9" || stream.includes(`${next.target}  `) || stream.includes(`${next.method}  `)),
  },
  {
    why: "RFC 9112, 2.2 asks to ignore one empty line; Node ignores any number of carriage returns and line feeds, in any order",
    problems: ["several empty lines come before the request", NO_METHOD, NO_HEAD],
    // The text after each single empty line was removed.
    explains: ({ next, stream }) =>
      next === undefined ? stream.includes("\r\n\r\n") : new RegExp(`[\\r\\n]${next.method} `).test(stream.replace(/(^|\r\n)\r\n(?=[A-Z])/g, "$1")),
  },
  {
    why: "the size of a chunk has up to 8 digits, and an extension with `=` has a name and a value",
    problems: ["malformed-chunks"],
    explains: ({ next, stream }) => next !== undefined && isChunked(next) && /[0-9a-f]{9}|;=|=[;\r]|=[^";\r]+"/i.test(stream),
  },
  {
    why: "the interface itself refuses a method that HTTP does not know (D-04); PRI is such a method, but Node takes it for the beginning of HTTP/2",
    problems: [undefined],
    explains: ({ next, node: { problem } }) =>
      next !== undefined && /^[A-Z][A-Z-]*$/.test(next.method) && (problem === "HPE_INVALID_METHOD" || next.method === "PRI"),
  },
  {
    why: "Plaza checks trailers like headers and drops them, even trailers that are about the connection or the length",
    explains: ({ next, last, stream }) => [next, last].some((request) => request !== undefined && isChunked(request)) && FRAMING_TRAILER.test(stream),
  },
  {
    why: "Node drops the bytes after a head that asks for another protocol; Plaza ignores the request for another protocol, as RFC 9110, 7.8 allows",
    diverges: true,
    explains: ({ next, last }) => [next, last].some((request) => request !== undefined && valuesOf(request, "upgrade").length > 0),
  },
  {
    why: "a tab after a length is white space like a blank (RFC 9110, 5.5)",
    problems: [undefined],
    explains: ({ stream, node: { problem } }) => problem === "HPE_INVALID_CONTENT_LENGTH" && /^content-length:[^\r\n]*\t/im.test(stream),
  },
  {
    why: "if a request has both `close` and `keep-alive`, `close` counts (RFC 9112, 9.3); Node keeps the connection",
    problems: [undefined],
    explains: ({ last }) => last !== undefined && valuesOf(last, "connection").length > 1,
  },
];

/**
 * The reason why the two readers disagree about a stream; undefined if no reason of the list fits. The function may be called only for streams about
 * which the readers disagree.
 */
export function reasonFor(stream: string, plaza: Outcome, node: Outcome): string | undefined {
  const [read, readByNode] = [complete(plaza), complete(node)];
  const shorter = Math.min(read.length, readByNode.length);
  let common = 0;
  while (common < shorter && Bun.deepEquals(read[common], readByNode[common])) common++;
  const next = (node.requests[common] ?? plaza.requests[common]) as NodeRequest | undefined;
  const problem = read.length === common ? plaza.problem : undefined;
  return reasons.find(
    ({ problems, diverges, explains }) =>
      (common === shorter || diverges === true) && (problems?.includes(problem) ?? true) && explains({ stream, last: read[common - 1], next, node }),
  )?.why;
}

/** The complete requests of the stream, which a server would handle. */
export const complete = ({ requests }: Outcome): readonly SeenRequest[] =>
  requests.filter(({ body }) => body !== null).map(({ method, target, headers, body }) => ({ method, target, headers, body }));
