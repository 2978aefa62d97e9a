/** The country file that the operator names. */
import { type Config, ConfigProblem } from "#config/config";
import { errorFields, type Log } from "#telemetry/log";
import type { CountryFile } from "./country-file.ts";

/** Rejects with `ConfigProblem`. */
export async function countryFileOf({ country_file: path }: Config, log: Log): Promise<CountryFile | undefined> {
  if (path === undefined) return undefined;
  // Imported only with such a file: a start does not wait for what it does not use.
  const { CountryFile } = await import("./country-file.ts");
  const onProblem = (error: unknown) => log.warn(errorFields(error), "the renewed country file cannot be read; the one before stays");
  return CountryFile.open(path, onProblem).catch((error: unknown) => {
    throw new ConfigProblem("--country-file", `${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  });
}
