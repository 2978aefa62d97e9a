/** In which country an address is, by a file of the operator: a CSV of networks, or a database of MaxMind's format (MMDB). */
import { readFile, stat } from "node:fs/promises";
import { monotonicMs } from "#system";
import { CountryFileProblem, rangesOf } from "./ranges.ts";

type Find = (address: string) => string | undefined;

/** Such files are renewed once a week or a month. */
const LOOK_EVERY_MS = 60_000;

export class CountryFile {
  readonly #path: string;
  readonly #onProblem: (error: unknown) => void;
  #find: Find;
  #version: string;
  #lookedMs = monotonicMs();

  private constructor(path: string, onProblem: (error: unknown) => void, find: Find, version: string) {
    this.#path = path;
    this.#onProblem = onProblem;
    this.#find = find;
    this.#version = version;
  }

  /** Rejects where the file cannot be read or is neither. `onProblem`: a renewed one cannot, and the one before stays. */
  static async open(path: string, onProblem: (error: unknown) => void): Promise<CountryFile> {
    const version = await versionOf(path);
    return new CountryFile(path, onProblem, await load(path), version);
  }

  /** As the file writes it; undefined: it does not say. `client` may be a network. */
  countryOf(client: string): string | undefined {
    if (monotonicMs() - this.#lookedMs >= LOOK_EVERY_MS) {
      this.#lookedMs = monotonicMs();
      void this.renew();
    }
    return this.#find(client.split("/", 1)[0] as string);
  }

  /** Reads the file again if it has changed. */
  async renew(): Promise<void> {
    try {
      const version = await versionOf(this.#path);
      if (version === this.#version) return;
      this.#find = await load(this.#path);
      this.#version = version;
    } catch (error) {
      this.#onProblem(error);
    }
  }
}

const versionOf = async (path: string): Promise<string> => {
  const { mtimeMs, size } = await stat(path);
  return `${mtimeMs} ${size}`;
};

/** What databases of countries call it: MaxMind and DB-IP an object, others its code. */
interface Entry {
  readonly country?: { readonly iso_code?: string } | string;
  readonly registered_country?: { readonly iso_code?: string };
  readonly country_code?: string;
}

async function load(path: string): Promise<Find> {
  if (!path.toLowerCase().endsWith(".mmdb")) return rangesOf(await readFile(path, "utf8"));
  // Imported only with such a file: a start does not wait for what it does not use.
  const { Reader } = await import("mmdb-lib");
  let reader: InstanceType<typeof Reader<Record<string, unknown>>>;
  try {
    reader = new Reader<Record<string, unknown>>(await readFile(path));
  } catch (error) {
    throw error instanceof Error && "code" in error ? error : new CountryFileProblem("it is no database of MaxMind's format");
  }
  return (address) => {
    const { country, registered_country, country_code } = (reader.get(address) ?? {}) as Entry;
    return typeof country === "string" ? country : (country?.iso_code ?? country_code ?? registered_country?.iso_code);
  };
}
