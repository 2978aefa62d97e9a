/** Types for the used part of the package, which has none of its own. */
declare module "papaparse" {
  interface ParseError {
    /** Only `Quotes` is about a row; the others are about detection, which is not used here. */
    readonly type: "Quotes" | "Delimiter" | "FieldMismatch";
    readonly code: "MissingQuotes" | "InvalidQuotes" | "UndetectableDelimiter" | "TooFewFields" | "TooManyFields";
    readonly message: string;
    /** Index in `data`. */
    readonly row?: number;
  }
  interface ParseResult {
    readonly data: string[][];
    readonly errors: ParseError[];
  }
  const Papa: { parse(text: string, config: { readonly delimiter: string; readonly newline: "\n" }): ParseResult };
  // biome-ignore lint/style/noDefaultExport: the package's own export.
  export default Papa;
}
