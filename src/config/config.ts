/**
 * The options of an operator, after they were read and checked. All other code gets the options from this type, and reads neither flags nor the
 * environment nor the config file.
 */
import type { own } from "./options.ts";

type Own = typeof own;

/** The value of each option by the option's name: the result of the option's reader, or the default. */
export type Config = { readonly [Name in keyof Own]: ReturnType<Own[Name]["read"]> | Own[Name]["default"] } & {
  /** The values of the features' settings, by name. Each setting of a feature is an ordinary option. */
  readonly settings: Readonly<Record<string, number>>;
};

/** The error about an invalid option. If an option is invalid, the program prints one line and exits with code 2. */
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
