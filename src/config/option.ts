/** The type of an option, and how its name is written in each place. */
import type { ReadValue } from "./option-readers.ts";

export interface Option {
  readonly name: string;
  /** The name of the flag's value in the help, e.g. `N`; a switch has none. */
  readonly value?: string;
  /** Whether the flag `--no-…` exists as well. */
  readonly isNegatable?: true;
  readonly isRepeatable?: true;
  /** Whether the value is a secret. A secret has no flag, because everybody on the machine can read a program's command line. */
  readonly isSecret?: true;
  /** Whether the value may contain a secret, so that it can also be in a file of its own (D-352). */
  readonly holdsSecret?: true;
  /** Whether the option gives the place of the config file, so that it cannot be in that file. */
  readonly isLeftOutOfFile?: true;
  readonly read: ReadValue<unknown>;
  readonly default: unknown;
  readonly summary: string;
}

export const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`;
export const variableOf = (name: string): string => `PLAZA_${name.toUpperCase()}`;

/** The only place that reads the environment of the process. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
