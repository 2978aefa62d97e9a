/** An option and its names. */
import type { ReadValue } from "./option-readers.ts";

export interface Option {
  readonly name: string;
  /** Name of the flag's value, e.g. `N`; a switch has none. */
  readonly value?: string;
  /** `--no-…` exists as well. */
  readonly isNegatable?: true;
  readonly isRepeatable?: true;
  /** A secret has no flag, because everybody on the machine can read its command lines. */
  readonly isSecret?: true;
  /** Its value may contain a secret, so it can be in a file as well (D-352). */
  readonly holdsSecret?: true;
  /** The option names the config file, so it cannot be in one. */
  readonly isLeftOutOfFile?: true;
  readonly read: ReadValue<unknown>;
  readonly default: unknown;
  readonly summary: string;
}

export const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`;
export const variableOf = (name: string): string => `PLAZA_${name.toUpperCase()}`;

/** The only place that reads the environment of the process. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
