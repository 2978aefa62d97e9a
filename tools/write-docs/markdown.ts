/** Writes the Markdown of the reference pages. */
export function page(title: string, source: string, parts: readonly string[]): string {
  return [`# ${title}`, `Written by \`npm run docs\` from ${source}; changes by hand are lost.`, ...parts].join("\n\n").concat("\n");
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Returns the text of a table cell. Line breaks are removed and pipes escaped, because both would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");

export const code = (text: string): string => `\`${text}\``;

export const codes = (texts: readonly string[]): string => texts.map(code).join(", ");
