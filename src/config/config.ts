/** The options of an operator, after they were read and checked. No other part of the program reads flags, environment or config file. */
import type { own } from "./options.ts";

type Own = typeof own;

/** The value of each option by the option's name: the result of its reader, or its default. */
export type Config = { readonly [Name in keyof Own]: ReturnType<Own[Name]["read"]> | Own[Name]["default"] } & {
  /** The values of the features' settings, by name. Each setting is an ordinary option. */
  readonly settings: Readonly<Record<string, number>>;
};

/** An option is invalid. The program prints one line and exits with code 2. */
export class ConfigProblem extends Error {
  constructor(
    /** The option as the operator wrote it, e.g. `--port`, `PLAZA_PORT` or `port in plaza.config.yaml`. */
    readonly option: string,
    problem: string,
  ) {
    super(`${option}: ${problem}`);
    this.name = "ConfigProblem";
  }
}
