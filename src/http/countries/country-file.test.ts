import { expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { CountryFile } from "./country-file.ts";
import { CountryFileProblem } from "./ranges.ts";

async function open(name: string, content: string | Uint8Array) {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  const problems: string[] = [];
  const file = await CountryFile.open(path, (error) => void problems.push(String(error)));
  const of = (...addresses: readonly string[]) => addresses.map((address) => file.countryOf(address));
  const renew = async (text: string) => {
    writeFileSync(path, text);
    utimesSync(path, 1, Math.random() * 1e6);
    await file.renew();
  };
  return { of, problems, renew };
}

const CSV = `network,country
192.0.2.0/25,DE
"192.0.2.128/25","at"
198.51.100.7/32,FR
203.0.113.0,203.0.113.9,CH
2001:db8::/32,NL
2001:db9::,2001:db9::ffff,BE
`;

test("LIVE-24: a CSV of networks or ranges says in which country an address is", async () => {
  const { of } = await open("countries.csv", CSV);
  expect(of("192.0.2.0", "192.0.2.127", "192.0.2.128", "192.0.2.255", "192.0.3.0")).toEqual(["DE", "DE", "AT", "AT", undefined]);
  expect(of("198.51.100.7", "198.51.100.8", "203.0.113.9", "203.0.113.10")).toEqual(["FR", undefined, "CH", undefined]);
  // As a client of IPv6 is known: by its network; and IPv4 as an IPv6 socket shows it.
  expect(of("2001:db8:1:2::/64", "2001:db9::/64", "2001:db7::1", "::ffff:192.0.2.1")).toEqual(["NL", "BE", undefined, "DE"]);
  expect(of("", "no address")).toEqual([undefined, undefined]);
});

test("a CSV that cannot be read names its line, and a renewed one that cannot leaves the one before", async () => {
  for (const [text, problem] of [
    ["192.0.2.0/24,DE\n192.0.2.9,DE\n", /line 2/],
    ["192.0.2.0/24,DE\n192.0.2.0/33,DE\n", /line 2/],
    ["192.0.2.0/24,DE\n192.0.2.9,2001:db8::,DE\n", /line 2/],
    ["192.0.2.0/24,DE\n192.0.2.9,192.0.2.1,DE\n", /line 2/],
    ["192.0.2.0/24,DE\n192.0.2.128/25,AT\n", /lines 1 and 2/],
    ["192.0.2.0/24,DE\n192.0.2.0/24,AT\n", /lines 1 and 2/],
    ["192.0.2.0/24,DE\n192.0.2.0/26,DE\n192.0.2.128/25,AT\n", /lines 1 and 3/],
    ["192.0.2.0/25,DE\n192.0.2.64,192.0.2.200,DE\n192.0.2.200/32,AT\n", /lines 2 and 3/],
    ["192.0.2.0/24,DE\nDE\n", /line 2/],
    ["192.0.2.0/24,DE\n192.0.2.0/24,DE,DE,DE\n", /line 2/],
    ["192.0.2.0/24,DE\n,DE\n", /line 2/],
  ] as const)
    await expect(open("countries.csv", text)).rejects.toThrow(problem);
  const { of, problems, renew } = await open("countries.csv", CSV);
  await renew("192.0.2.0/24,SE\n");
  expect({ countries: of("192.0.2.1", "198.51.100.7"), problems }).toEqual({ countries: ["SE", undefined], problems: [] });
  await renew("a,b\nc,d\n");
  expect(of("192.0.2.1")).toEqual(["SE"]);
  expect(problems).toEqual([expect.stringContaining("line 2")]);
});

test("the lines of a CSV may stand in any order, may be empty, and may name one address twice for one country", async () => {
  const { of } = await open(
    "countries.csv",
    "203.0.113.0/24,CH\r\n\r\n192.0.2.0,192.0.2.9,DE\r\n198.51.100.7,198.51.100.7,FR\n192.0.2.9,192.0.2.20,DE\n192.0.2.21/32,AT\n",
  );
  expect(of("192.0.2.0", "192.0.2.9", "192.0.2.20", "192.0.2.21", "192.0.2.22")).toEqual(["DE", "DE", "DE", "AT", undefined]);
  expect(of("198.51.100.6", "198.51.100.7", "198.51.100.8", "203.0.113.200")).toEqual([undefined, "FR", undefined, "CH"]);
  // The last address of one is the first of the other, of another country.
  await expect(open("countries.csv", "192.0.2.9,192.0.2.20,AT\n192.0.2.0,192.0.2.9,DE\n")).rejects.toThrow("lines 2 and 1 name two countries");
});

test("an address has the country of each range that holds it, also where a smaller one of that country begins behind it", async () => {
  const { of } = await open(
    "countries.csv",
    " 10.0.0.0/8 , FR \n192.0.2.0/24,DE\n192.0.2.64/26,DE\n192.0.2.200,192.0.3.9,DE\n2001:db8::/32,NL\n2001:db8:5::/48,NL\n",
  );
  expect(of("192.0.2.63", "192.0.2.64", "192.0.2.128", "192.0.2.201", "192.0.3.9", "192.0.3.10")).toEqual([...Array(5).fill("DE"), undefined]);
  expect(of("10.0.0.0", "10.255.255.255", "11.0.0.0")).toEqual(["FR", "FR", undefined]);
  expect(of("2001:db8:4::", "2001:db8:5::", "2001:db8:6::")).toEqual(["NL", "NL", "NL"]);
});

test("a file that cannot be read is another problem than one that is no database", async () => {
  const folder = join(temporaryFolder(), "countries.mmdb");
  mkdirSync(folder);
  const problem = await CountryFile.open(folder, () => {}).catch((error: unknown) => error);
  expect(problem).toMatchObject({ code: "EISDIR" });
  expect(problem).not.toBeInstanceOf(CountryFileProblem);
  await expect(open("COUNTRIES.MMDB", "192.0.2.0/24,DE\n")).rejects.toThrow("no database of MaxMind's format");
});

test("LIVE-24: a database in MaxMind's format says it too, also as others write the country", async () => {
  const { of } = await open(
    "countries.mmdb",
    databaseOf({
      "192.0.2.0/24": { country: { iso_code: "DE" }, registered_country: { iso_code: "US" } },
      "198.51.100.0/25": { registered_country: { iso_code: "FR" } },
      "203.0.113.7/32": { country: "CH" },
      "2001:db8::/32": { country_code: "NL" },
    }),
  );
  expect(of("192.0.2.200", "192.0.3.0", "198.51.100.1", "198.51.100.200")).toEqual(["DE", undefined, "FR", undefined]);
  expect(of("203.0.113.7", "2001:db8:5::/64", "2001:db9::")).toEqual(["CH", "NL", undefined]);
  await expect(open("broken.mmdb", "no database")).rejects.toThrow(CountryFileProblem);
});

type Value = string | number | readonly Value[] | { readonly [key: string]: Value };

/** A small database of IPv6 with records of 24 bits, as MaxMind's specification describes it. */
function databaseOf(networks: Readonly<Record<string, Value>>): Uint8Array {
  type Node = [Node | number | undefined, Node | number | undefined];
  const root: Node = [undefined, undefined];
  const data: Uint8Array[] = [];
  for (const [network, value] of Object.entries(networks)) {
    const offset = data.reduce((sum, part) => sum + part.length, 0);
    data.push(encoded(value));
    const bits = bitsOf(network);
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      node[bit] ??= [undefined, undefined];
      node = node[bit] as Node;
    }
    node[bits.at(-1) as 0 | 1] = offset;
  }
  const nodes: Node[] = [root];
  for (const node of nodes) nodes.push(...node.filter((child): child is Node => Array.isArray(child)));
  const recordOf = (child: Node | number | undefined): number =>
    child === undefined ? nodes.length : typeof child === "number" ? nodes.length + 16 + child : nodes.indexOf(child);
  const tree = Buffer.concat(
    nodes.flatMap((node) =>
      node.map((child) => {
        const record = Buffer.alloc(3);
        record.writeUIntBE(recordOf(child), 0, 3);
        return record;
      }),
    ),
  );
  const metadata = {
    ...{ binary_format_major_version: 2, binary_format_minor_version: 0, build_epoch: 1, database_type: "Country", description: {} },
    ...{ ip_version: 6, languages: ["en"], node_count: nodes.length, record_size: 24 },
  };
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from([0xab, 0xcd, 0xef]), Buffer.from("MaxMind.com"), encoded(metadata)]);
}

function bitsOf(network: string): (0 | 1)[] {
  const [address = "", length] = network.split("/");
  const isFour = address.includes(".");
  const groups = address.split(isFour ? "." : ":").filter((group) => group !== "");
  const width = isFour ? 8 : 16;
  const bits = groups.flatMap((group) =>
    [
      ...Number.parseInt(group, isFour ? 10 : 16)
        .toString(2)
        .padStart(width, "0"),
    ].map((bit) => Number(bit) as 0 | 1),
  );
  return [...Array<0>(isFour ? 96 : 0).fill(0), ...bits.slice(0, Number(length))];
}

function encoded(value: Value): Uint8Array {
  if (typeof value === "string") return Buffer.concat([Uint8Array.of((2 << 5) | value.length), Buffer.from(value)]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(5);
    bytes[0] = (6 << 5) | 4;
    bytes.writeUInt32BE(value, 1);
    return bytes;
  }
  if (Array.isArray(value)) return Buffer.concat([Uint8Array.of(value.length, 11 - 7), ...value.map(encoded)]);
  const pairs = Object.entries(value as Record<string, Value>);
  return Buffer.concat([Uint8Array.of((7 << 5) | pairs.length), ...pairs.flatMap(([key, one]) => [encoded(key), encoded(one)])]);
}
