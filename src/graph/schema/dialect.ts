/** How reading a request differs from reading a world file, where both follow the same schema words. */
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
  /** By the name that a schema gives with `x-plaza-read-as`. Without a reading of that name the schema's other words count. Each throws `ValueProblem`. */
  readonly readings?: Readonly<Record<string, (value: unknown) => unknown>>;
  /** What becomes of keys that an object does not declare, where its schema does not say. */
  readonly undeclaredKeys: "kept" | "left out";
  /** Whether a missing key is reported at its own place in the schema's order, or after all that is wrong with the keys that are there. */
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
