/** multipart/form-data (RFC 7578), strictly: what is not of that form is an error and not an empty body. */
import type { UploadedFile } from "#graph/pipeline/request";
import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import type { ParameterTree } from "./parameter-tree.ts";

/** RFC 2046: a boundary has at most 70 characters. */
const BOUNDARY_CHARACTERS_MAX = 70;
/** Of one part: a disposition with a file name of 255 characters, percent-encoded, and a type. */
const PART_HEADER_BYTES_MAX = 4_096;

interface ParsedMultipart {
  readonly tree: ParameterTree;
  readonly files: Map<string, UploadedFile>;
}

/** Text parts become parameters, parts with a file name files (of two with one name the later). Returns the defect. */
export function parseMultipart(bytes: Uint8Array, boundary: string | undefined, into: ParsedMultipart): GraphError | undefined {
  if (boundary === undefined || boundary === "" || boundary.length > BOUNDARY_CHARACTERS_MAX)
    return malformedRequest("The multipart body's Content-Type has no valid boundary");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  let at = startOfFirst(buffer, delimiter);
  if (at === -1) return malformedRequest("The multipart body does not contain its boundary");
  while (true) {
    // `at` stands behind a delimiter: `--` ends the body, a line break begins a part.
    if (buffer[at] === 45 && buffer[at + 1] === 45) return undefined;
    while (buffer[at] === 32 || buffer[at] === 9) at++;
    if (buffer[at] !== 13 || buffer[at + 1] !== 10) return malformedRequest("The multipart body has text behind a boundary");
    // Without headers the empty line follows at once, so the search begins at the boundary's own line break.
    const headEnd = buffer.indexOf("\r\n\r\n", at, "latin1");
    const end = headEnd === -1 ? -1 : buffer.indexOf(delimiter, headEnd + 2);
    if (end === -1) return malformedRequest("The multipart body ends within a part");
    if (headEnd - at > PART_HEADER_BYTES_MAX) return malformedRequest("The multipart body has a part with too long headers");
    const defect = takePart(buffer.subarray(at, headEnd), buffer.subarray(Math.min(headEnd + 4, end), end), into);
    if (defect !== undefined) return defect;
    at = end + delimiter.length;
  }
}

/** The first boundary may open the body; before it stands what no reader reads. */
function startOfFirst(buffer: Buffer, delimiter: Buffer): number {
  if (buffer.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))) return delimiter.length - 2;
  const found = buffer.indexOf(delimiter);
  return found === -1 ? -1 : found + delimiter.length;
}

function takePart(head: Buffer, content: Buffer, { tree, files }: ParsedMultipart): GraphError | undefined {
  const headText = utf8Text(head);
  if (headText === undefined) return malformedRequest("The multipart body has a part whose headers are not UTF-8");
  let disposition: ReturnType<typeof parseMediaType> | undefined;
  let contentType: string | undefined;
  for (const line of headText.split("\r\n")) {
    const colon = line.indexOf(":");
    const header = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (header === "content-disposition") disposition ??= parseMediaType(line.slice(colon + 1));
    else if (header === "content-type") contentType ??= line.slice(colon + 1).trim();
  }
  const name = unescaped(disposition?.parameters.get("name"));
  if (disposition?.type !== "form-data" || name === undefined) return malformedRequest("The multipart body has a part without a name");
  if (!tree.hasCapacityFor(name)) return undefined;
  const filename = unescaped(disposition.parameters.get("filename"));
  if (filename !== undefined) {
    files.set(name, { filename, contentType: contentType ?? "application/octet-stream", bytes: content });
    return undefined;
  }
  const text = utf8Text(content);
  if (text === undefined) return invalidParameter(name, "is not UTF-8");
  tree.add(name, text);
  return undefined;
}

/** Browsers write these three, and only these, percent-encoded in names (HTML: multipart/form-data encoding). */
const unescaped = (text: string | undefined): string | undefined =>
  text?.includes("%") === true ? text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n") : text;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Without a byte order mark; undefined when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** `type/subtype; name=value` of Content-Type and Content-Disposition. */
export interface MediaType {
  /** Lower case, without parameters. */
  readonly type: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

export function parseMediaType(text: string): MediaType {
  const end = text.indexOf(";");
  if (end === -1) return { type: text.trim().toLowerCase(), parameters: NO_PARAMETERS };
  const parameters = new Map<string, string>();
  const pattern = /;\s*([^\s=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gy;
  pattern.lastIndex = end;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const name = (match[1] as string).toLowerCase();
    // Browsers write a quote in a file name as %22 and as \"; the backslash of a Windows path is left alone.
    const value = match[2] === undefined ? (match[3] as string).trim() : match[2].replaceAll('\\"', '"').replaceAll("\\\\", "\\");
    if (!parameters.has(name)) parameters.set(name, value);
    while (pattern.lastIndex < text.length && text[pattern.lastIndex] === " ") pattern.lastIndex++;
  }
  return { type: text.slice(0, end).trim().toLowerCase(), parameters };
}
