/** In what requests and world files differ where both are read by the same schemas. */
export interface Dialect {
  /**
   * What a value stands for, by the kind that is expected: text of a query stands for numbers, lists and objects. A value that
   * stands for nothing of that kind is returned as it is, and then refused. Throws `ValueProblem`.
   */
  readonly coerce?: {
    text(value: unknown): unknown;
    integer(value: unknown): unknown;
    /** Decimals that stay text, so that no digit passes through a binary float; where left out they are numbers. */
    decimal(value: unknown): string;
    boolean(value: unknown): unknown;
    list(value: unknown, isCommaSeparated: boolean): unknown;
    object(value: unknown): unknown;
  };
  /** By the name that a schema gives with `x-plaza-read-as`; a schema's other words are used where there is none of that name. Throws `ValueProblem`. */
  readonly readings?: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Keys that an object does not declare, where its schema says nothing of them. */
  readonly undeclaredKeys: "kept" | "left out";
  /** A key that is missing is told of before what is wrong with a later one, or after. */
  readonly missingKeys: "in order" | "last";
  readonly messages: {
    notText(value: unknown): string;
    readonly notObject: string;
    tooShort(minLength: number): string;
    tooFew(minItems: number): string;
    noMatch(pattern: string): string;
    noneOf(allowed: readonly unknown[]): string;
  };
}
