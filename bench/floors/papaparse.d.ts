/** Types for the used functions of the package papaparse, which has no types of its own. */
declare module "papaparse" {
  interface ParseError {
    /** Only errors of the type `Quotes` are about a row. The other errors are about detecting the format, which the benches do not use. */
    readonly type: "Quotes" | "Delimiter" | "FieldMismatch";
    readonly code: "MissingQuotes" | "InvalidQuotes" | "UndetectableDelimiter" | "TooFewFields" | "TooManyFields";
    readonly message: string;
    /** The index of the row in `data`. */
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
