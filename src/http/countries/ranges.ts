/** Countries by ranges of addresses, as a CSV names them. */
import ipaddr from "ipaddr.js";

/** What is wrong with the file, for the operator. */
export class CountryFileProblem extends Error {}

/** Line by line `network,country`, such as `192.0.2.0/24,DE`, or `first,last,country`. A first line of titles is passed over. */
export function rangesOf(text: string): (address: string) => string | undefined {
  const four = new Ranges();
  const six = new Ranges();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const fields = line.split(",").map((field) => field.trim().replaceAll('"', ""));
    if (fields.length === 1 && fields[0] === "") continue;
    const [first = "", last] = fields;
    const range = fields.length === 3 ? [keyOf(first), keyOf(last as string)] : fields.length === 2 ? networkOf(first) : [];
    const [from, to] = range;
    if (from !== undefined && to !== undefined && from.isSix === to.isSix && from.key <= to.key) {
      (from.isSix ? six : four).add(from.key, to.key, (fields.at(-1) as string).toUpperCase(), index + 1);
    } else if (index > 0) {
      throw new CountryFileProblem(`line ${index + 1} is neither network,country (such as 192.0.2.0/24,DE) nor first,last,country`);
    }
  }
  four.sort();
  six.sort();
  return (address) => {
    const key = keyOf(address);
    return key === undefined ? undefined : (key.isSix ? six : four).find(key.key);
  };
}

interface Key {
  readonly isSix: boolean;
  /** The address as a number. */
  readonly key: bigint;
}

function keyOf(text: string): Key | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const bytes = ipaddr.process(text).toByteArray();
  return { isSix: bytes.length > 4, key: bytes.reduce((key, byte) => key * 256n + BigInt(byte), 0n) };
}

function networkOf(text: string): (Key | undefined)[] {
  if (!ipaddr.isValidCIDR(text)) return [];
  const [address, bits] = ipaddr.parseCIDR(text);
  const first = keyOf(address.toString());
  if (first === undefined) return [];
  const width = first.isSix ? 128 : 32;
  const free = BigInt(Math.max(0, width - bits));
  const key = (first.key >> free) << free;
  return [
    { ...first, key },
    { ...first, key: key + (1n << free) - 1n },
  ];
}

interface Row {
  readonly from: bigint;
  readonly to: bigint;
  readonly country: string;
  readonly line: number;
}

class Ranges {
  #rows: Row[] = [];

  add(from: bigint, to: bigint, country: string, line: number): void {
    this.#rows.push({ from, to, country, line });
  }

  /** Those of one country that overlap become one. Throws where two of different ones do: nobody could say which one counts. */
  sort(): void {
    const apart: Row[] = [];
    for (const row of this.#rows.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
      const before = apart.at(-1);
      if (before === undefined || before.to < row.from) apart.push(row);
      else if (before.country !== row.country)
        throw new CountryFileProblem(`lines ${before.line} and ${row.line} name two countries for one address`);
      else if (before.to < row.to) apart.splice(-1, 1, { ...row, from: before.from });
    }
    this.#rows = apart;
  }

  find(key: bigint): string | undefined {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle] as { from: bigint }).from <= key) low = middle + 1;
      else high = middle;
    }
    const row = this.#rows[low - 1];
    return row !== undefined && row.to >= key ? row.country : undefined;
  }
}
