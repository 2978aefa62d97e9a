/** The host and port of a Host header, or of a target in absolute form. */

/** The longest name of the DNS and a port. */
const HOST_CHARACTERS_MAX = 260;
const IPV6_HOST = /^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;

/** A name or IPv4 address, or an IPv6 address in brackets, with or without a port: nothing that could break a link. */
export function isHost(text: string | undefined): text is string {
  if (text === undefined || text === "" || text.length > HOST_CHARACTERS_MAX) return false;
  if (text === lastHost) return true;
  if (!hasHostSyntax(text)) return false;
  lastHost = text;
  return true;
}

/** Nearly every request names the same host as the one before. */
let lastHost = "";

function hasHostSyntax(text: string): boolean {
  if (text.charCodeAt(0) === 91) return IPV6_HOST.test(text);
  let at = 0;
  while (at < text.length && isNameUnit(text.charCodeAt(at))) at++;
  if (at === text.length) return true;
  if (at === 0 || text.charCodeAt(at) !== 58 || text.length - at > 6 || at + 1 === text.length) return false;
  for (at++; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 48 || unit > 57) return false;
  }
  return true;
}

const isNameUnit = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || unit === 46 || unit === 45 || (unit >= 65 && unit <= 90) || unit === 95;
