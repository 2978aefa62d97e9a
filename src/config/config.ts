/** The options of an operator, read and checked. No other part of the program reads flags, environment or config file. */
import type { own } from "./options.ts";

type Own = typeof own;

/** The value of each option by its name: the result of its reader, or its default. */
export type Config = { readonly [Name in keyof Own]: ReturnType<Own[Name]["read"]> | Own[Name]["default"] } & {
  /** Settings of features, by name. Each is an ordinary option. */
  readonly settings: Readonly<Record<string, number>>;
};

/** An invalid option. The program prints one line and exits with code 2. */
export class ConfigProblem extends Error {
  constructor(
    /** As the operator wrote it, e.g. `--port`, `PLAZA_PORT` or `port in plaza.config.yaml`. */
    readonly option: string,
    problem: string,
  ) {
    super(`${option}: ${problem}`);
    this.name = "ConfigProblem";
  }
}
