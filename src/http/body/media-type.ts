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
