/** The head of a response as text. */

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reason phrases, which only people with a terminal read. */
const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  206: "Partial Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Content Too Large",
  416: "Range Not Satisfiable",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Empty, as RFC 9112, 4 allows, for a status that is not listed. */
const reasonOf = (status: number): string => reasons[status] ?? "";

/** Each header as a line with its line end. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

/** Status line and headers up to and without the empty line. `furtherLines` are header lines as `headerLines` makes them. */
export const responseHeadText = ({ status, headers }: ResponseHead, furtherLines: string, nowMs: number): string =>
  `HTTP/1.1 ${status} ${reasonOf(status)}\r\n${headerLines(headers)}${furtherLines}date: ${httpDate(nowMs)}\r\n`;

/** RFC 9110, 8.6: neither 204 nor 304 has a length here; HEAD has that of the GET. */
export const hasContent = (status: number): boolean => status !== 204 && status !== 304;

let dateSecond = 0;
let dateText = "";

/** RFC 9110, 5.6.7. Made once a second. */
function httpDate(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(nowMs).toUTCString();
  }
  return dateText;
}
