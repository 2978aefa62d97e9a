/**
 * Readers of option values, which are given as text (flag, environment) or as a YAML value. Each reader throws a `ValueProblem` for a wrong value,
 * and has a JSON Schema with which an editor checks the values in a config file. A reader of numbers also reads a number that is written as text.
 */
import { isIP } from "node:net";
import type { SurfaceName } from "#graph/pipeline/request";
import { hostnameOf, originOf } from "#kernel/page-guard";
import { trimmedEnd } from "#kernel/text";
import type { NamedDatabase } from "#storage/database";
import { surfaces } from "#surfaces/surfaces";

/** The error about a wrong value of an option. The function that catches the error adds the name of the option to the message. */
export class ValueProblem extends Error {}

type ValueSchema = Readonly<Record<string, unknown>>;

export interface ReadValue<T> {
  (value: unknown): T;
  readonly schema: ValueSchema;
}

const reader = <T>(schema: ValueSchema, read: (value: unknown) => T): ReadValue<T> => Object.assign(read, { schema });

const TEXT: ValueSchema = { type: "string", minLength: 1 };
/** The JSON Schema of an option whose value is a list or one text with commas between the items. */
const LIST: ValueSchema = { type: ["array", "string"], items: TEXT };

const shown = (value: unknown): string => (typeof value === "string" ? `"${value}"` : JSON.stringify(value));
const wrong = (value: unknown, expected: string): ValueProblem => new ValueProblem(`${shown(value)} is not ${expected}`);

export const text = reader(TEXT, (value) => {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value.trim() === "") throw wrong(value, "text");
  return value;
});

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): ReadValue<number> =>
  reader({ type: "integer", minimum, maximum }, (value) => {
    const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isSafeInteger(number) || number < minimum || number > maximum) {
      throw wrong(value, `an integer from ${minimum} to ${maximum}`);
    }
    return number;
  });

/** Reads a fraction from 0 to 1. */
export const ratio = reader({ type: "number", minimum: 0, maximum: 1 }, (value) => {
  const number = typeof value === "string" && /^(?:\d+(?:\.\d{0,9})?|\.\d{1,9})$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0 && number <= 1)) throw wrong(value, "a number from 0 to 1, such as 0.1");
  return number;
});

/** The highest TCP port. */
export const PORT_MAX = 65_535;
export const port = integer(0, PORT_MAX);

export const portOrOff = reader<number | "off">({ anyOf: [port.schema, { enum: ["off", false] }] }, (value) => {
  // YAML 1.1 reads `off` as false.
  if (value === "off" || value === false) return "off";
  try {
    return port(value);
  } catch {
    throw wrong(value, `a port from 0 to ${PORT_MAX}, or off`);
  }
});

export const flag = reader({ type: "boolean" }, (value) => {
  if (value === true || value === "true" || value === "1") return true;
  if (value === false || value === "false" || value === "0") return false;
  throw wrong(value, "true or false");
});

export const oneOf = <const Word extends string>(words: readonly Word[]): ReadValue<Word> =>
  reader({ enum: [...words] }, (value) => {
    const word = words.find((one) => one === value);
    if (word === undefined) throw wrong(value, `one of ${words.join(", ")}`);
    return word;
  });

/** Returns the items of an option's value, which is a list or a text with commas between the items. */
const listOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
  return typeof value === "string" ? value.split(",") : [value];
};

const isCidr = (word: string): boolean => {
  const [address = "", bits, rest] = word.split("/");
  const version = isIP(address);
  if (version === 0 || rest !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
};

const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/i;

/** Makes a reader for a list of words. The function `read` checks a word, and returns undefined if the word is wrong. */
const all = (read: (word: string) => string | undefined, expected: string): ReadValue<readonly string[]> =>
  reader(LIST, (value) =>
    listOf(value).map((item) => {
      const word = typeof item === "string" ? read(item.trim()) : undefined;
      if (word === undefined) throw wrong(item, expected);
      return word;
    }),
  );

const words = (isRight: (word: string) => boolean, expected: string) => all((word) => (isRight(word) ? word : undefined), expected);

export const cidrs = words(isCidr, "an address range such as 10.0.0.0/8");
export const cidrsOrHosts = words((word) => isCidr(word) || HOST.test(word), "an address range such as 10.0.0.0/8, or a host name");

/** Reads a host. An IPv6 address may be written without brackets. */
function hostOf(word: string): string | undefined {
  const host = isIP(word) === 6 ? `[${word}]` : word;
  return /:\d*$/.test(host) ? undefined : hostnameOf(host);
}

export const origins = all(originOf, "an origin such as https://app.example.com, or null");
export const hosts = all(hostOf, "a host name or an address, without a port");

/** Reads the host of each surface: `app=app.example.com,ads=ads.example.com`, or a map in the config file. */
export const surfaceHosts = reader(
  {
    anyOf: [LIST, { type: "object", properties: Object.fromEntries(surfaces.map(({ name }) => [name, TEXT])), additionalProperties: false }],
  },
  (value) => {
    const pairs =
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(value)
        : listOf(value).map((item) => (typeof item === "string" ? item.split("=").map((part) => part.trim()) : [item]));
    const hosts: Partial<Record<SurfaceName, string>> = {};
    for (const [name, host, ...rest] of pairs) {
      if (!surfaces.some((surface) => surface.name === name) || rest.length > 0) {
        throw wrong(value, `surface=host, with a surface of ${surfaces.map((surface) => surface.name).join(", ")}`);
      }
      if (typeof host !== "string" || !HOST.test(host)) throw wrong(host, "a host name");
      hosts[name as SurfaceName] = host.toLowerCase();
    }
    return hosts;
  },
);

/** An edge that Plaza does not serve, and the file that answers requests for it. */
export interface Stub {
  readonly method: "GET" | "POST" | "DELETE";
  /** The type of the nodes that have the edge, e.g. `page`. */
  readonly type: string;
  readonly edge: string;
  readonly file: string;
}

const STUB = /^(?:(GET|POST|DELETE):)?([a-z_]{1,50})\/(\w{1,100})$/;

/**
 * Reads the files with the responses for edges: `page/insights=insights.json`, or a map in the config file. The name of a file may contain commas if
 * the config file gives a list.
 */
export const stubs = reader<readonly Stub[]>({ anyOf: [LIST, { type: "object", additionalProperties: TEXT }] }, (value) => {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  const items = isMap
    ? Object.entries(value).map(([address, file]) => (typeof file === "string" ? `${address}=${file}` : file))
    : Array.isArray(value)
      ? value
      : listOf(value);
  return items.map((item) => {
    const [address = "", ...rest] = typeof item === "string" ? item.trim().split("=") : [];
    const [, method = "GET", type, edge] = STUB.exec(address) ?? [];
    const file = rest.join("=");
    if (type === undefined || edge === undefined || file === "")
      throw wrong(item, "a node type, an edge and a file, such as page/insights=insights.json or POST:page/feed=made.json");
    return { method: method as Stub["method"], type, edge, file };
  });
});

/** Makes a reader for a URL. A slash at the end of the URL is removed, so that a path can be appended. */
const webUrl = (example: string): ReadValue<string> =>
  reader(TEXT, (value) => {
    const url = typeof value === "string" ? URL.parse(value) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}${url.hash}` !== "")
      throw wrong(value, `an http or https address such as ${example}`);
    return `${url.origin}${trimmedEnd(url.pathname, "/")}`;
  });

export const publicUrl = webUrl("https://graph.example.com");

/** D-390: reads the URL of the operator's page that signs people in. */
export const signInUrl = webUrl("https://login.example.com/plaza");

const collector = webUrl("http://localhost:4318");
/** D-356: reads the URL of a collector, as in OTEL_EXPORTER_OTLP_ENDPOINT, without the path `/v1/traces`. */
export const collectorUrl = reader(TEXT, (value) => {
  const url = collector(value);
  if (url.endsWith("/v1/traces")) throw new ValueProblem("must not end in /v1/traces, because Plaza adds /v1/traces");
  return url;
});

/** Reads the URL of an app's callback. */
export const callback = reader(TEXT, (value) => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong(value, "an http or https address such as http://localhost:3000/hook");
  return url.href;
});

export const headerName = reader(TEXT, (value) => {
  if (typeof value !== "string" || !/^[A-Za-z0-9-]{1,64}$/.test(value)) throw wrong(value, "the name of a header such as X-Country");
  return value.toLowerCase();
});

/** Reads an RTMP URL. A slash at the end of the URL is removed, so that a stream key can be appended. */
export const rtmpUrl = reader(TEXT, (value) => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !/^rtmps?:$/.test(url.protocol) || url.hostname === "" || `${url.username}${url.password}${url.search}${url.hash}` !== "")
    throw wrong(value, "an address such as rtmp://media.example.com/live");
  return trimmedEnd(url.href, "/");
});

export const dataPlace = reader(TEXT, (value) => {
  if (typeof value !== "string" || value.trim() === "") throw wrong(value, "a folder, :memory: or postgres://…");
  if (/^[a-z]+:\/\//i.test(value) && !/^postgres(?:ql)?:\/\//.test(value))
    throw new ValueProblem("the only database address that Plaza supports is postgres://…");
  return value;
});

/**
 * D-422: reads the folder for recordings, or a bucket with the common prefix of the objects' names. The error message does not repeat the bucket's
 * address, because the address may contain a key.
 */
export const recordingsPlace = reader(TEXT, (value) => {
  const place = text(value);
  if (!/^[a-z0-9]+:\/\//i.test(place)) return place;
  const url = URL.parse(place);
  const isRight =
    url?.protocol === "s3:" &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname) &&
    (url.username === "") === (url.password === "") &&
    [...url.searchParams.keys()].every((name) => name === "endpoint" || name === "region");
  if (!isRight) throw new ValueProblem("the address of a bucket is s3://bucket/prefix, or s3://key:secret@bucket/prefix?endpoint=https://…&region=…");
  return place;
});

/**
 * Matches a database with its name, `name=postgres://…`. The name of a database is short, because metrics have it as a label and command lines
 * contain it.
 */
const DATABASE = /^([a-z0-9][a-z0-9_-]{0,30})=(postgres(?:ql)?:\/\/\S+)$/;
/**
 * Splits the text of `--databases` into items. The address of a database with several hosts contains commas, so a piece that does not begin with
 * `name=` belongs to the item before it.
 */
function databaseItems(text: string): string[] {
  const items: string[] = [];
  for (const word of text.split(/[\s,]/)) {
    if (word === "") continue;
    if (items.length === 0 || /^[a-z0-9_-]+=/i.test(word)) items.push(word);
    else items.push(`${items.pop()},${word}`);
  }
  return items;
}

/** The greatest number of databases. The limit exists because each process keeps some connections to each database. */
const DATABASES_MAX = 100;

/** D-420: reads several databases: `eu1=postgres://…,eu2=postgres://…`, a list of such items, or a map in the config file. */
export const databases = reader<readonly NamedDatabase[]>(
  { anyOf: [LIST, { type: "object", propertyNames: { pattern: "^[a-z0-9][a-z0-9_-]{0,30}$" }, additionalProperties: TEXT }] },
  (value) => {
    const items = Array.isArray(value)
      ? value
      : typeof value === "object" && value !== null
        ? Object.entries(value).map(([name, url]) => `${name}=${String(url)}`)
        : [value];
    const found = items.flatMap((item) =>
      (typeof item === "string" ? databaseItems(item) : [""]).map((text) => {
        const [, name, url] = DATABASE.exec(text) ?? [];
        // The error message does not repeat the database's address, because the address may contain a password.
        if (name === undefined || url === undefined)
          throw new ValueProblem(
            `${JSON.stringify(text.replace(/=.*$/s, "=…"))} is not name=postgres://…, with a name of at most 31 lower-case letters, digits, - and _`,
          );
        return { name, url };
      }),
    );
    if (found.length > DATABASES_MAX) throw new ValueProblem(`names ${found.length} databases; ${DATABASES_MAX} are allowed`);
    const twice = found.find(({ name, url }, at) => found.findIndex((other) => other.name === name || other.url === url) !== at);
    if (twice !== undefined) throw new ValueProblem(`${twice.name} has the name or the address of another database`);
    return found;
  },
);

/** The least number of characters of a control key. 16 characters of base64 have 96 bits, which cannot be guessed. */
const CONTROL_KEY_CHARACTERS_MIN = 16;
export const controlKey = reader(TEXT, (value) => {
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) throw new ValueProblem("must be printable ASCII without spaces");
  return value;
});
export const isStrongControlKey = (key: string): boolean => key.length >= CONTROL_KEY_CHARACTERS_MIN;

/** The size of a secret key, as AES-256 and HKDF require. Error messages about a secret key never contain its value. */
export const SECRET_KEY_BYTES = 32;
export const secretKey = reader<Uint8Array>(TEXT, (value) => {
  const written = typeof value === "string" ? value.trim() : "";
  const bytes = /^[0-9a-f]{64}$/i.test(written) ? Buffer.from(written, "hex") : Buffer.from(written, "base64");
  if (bytes.length !== SECRET_KEY_BYTES || !/^[0-9A-Za-z+/_=-]+$/.test(written)) throw new ValueProblem("must be 32 bytes in hex or base64");
  return new Uint8Array(bytes);
});

export const secretKeys = reader<readonly Uint8Array[]>(LIST, (value) => listOf(value).map(secretKey));
