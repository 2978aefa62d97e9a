/** The parts of multipart/form-data (RFC 7578), in a body of which each character is a byte: files need not be text. */

type Pairs = readonly (readonly [string, string])[];

const TYPE = /^multipart\//i;
/** RFC 2046: a boundary has at most 70 characters. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const NAME = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;

const typeOf = (headers: Pairs): string => headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";

export const isMultipart = (headers: Pairs): boolean => TYPE.test(typeOf(headers));

/** Undefined where the header has none, so that nobody can say where a part begins. */
export function boundaryOf(headers: Pairs): string | undefined {
  const match = BOUNDARY.exec(typeOf(headers));
  return match?.[1] ?? match?.[2];
}

/** `change` is called with the name and the text of each part, and says what stands there then. All else stays byte for byte. */
export function changeParts(body: string, boundary: string, change: (name: string, text: string) => string): string {
  const delimiter = `\r\n--${boundary}`;
  // The first boundary opens the body, as if a line break stood before it.
  const pieces = `\r\n${body}`.split(delimiter).map((piece) => {
    const end = piece.indexOf("\r\n\r\n");
    if (end === -1) return piece;
    const [, quoted, bare = ""] = NAME.exec(piece.slice(0, end)) ?? [];
    const text = Buffer.from(piece.slice(end + 4), "latin1").toString();
    const changed = change(quoted ?? bare, text);
    return changed === text ? piece : piece.slice(0, end + 4) + Buffer.from(changed).toString("latin1");
  });
  return pieces.join(delimiter).slice(2);
}
