/** The type of an option, and how the option's name is written as a flag, a variable and a key of the config file. */
import type { ReadValue } from "./option-readers.ts";

export interface Option {
  readonly name: string;
  /** The name of the flag's value in the help, e.g. `N`. The property is absent for a flag without a value. */
  readonly value?: string;
  /** Whether the flag `--no-…` exists as well. */
  readonly isNegatable?: true;
  readonly isRepeatable?: true;
  /** Whether the value is a secret. A secret has no flag, because everybody on the machine can read a program's command line. */
  readonly isSecret?: true;
  /** Whether the value may contain a secret. A value that may contain a secret can also be read from a file of its own (D-352). */
  readonly holdsSecret?: true;
  /** Whether the option gives the path of the config file. The config file cannot contain the option that gives its path. */
  readonly isLeftOutOfFile?: true;
  readonly read: ReadValue<unknown>;
  readonly default: unknown;
  readonly summary: string;
}

export const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`;
export const variableOf = (name: string): string => `PLAZA_${name.toUpperCase()}`;

/** The environment of the process. All code reads the environment through this function. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
