/** The part of the package that is used; it brings no types of its own. */
declare module "papaparse" {
  interface ParseError {
    /** `Quotes` alone is about a row; others are about guesses that are not asked for here. */
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
