/**
 * D-64: the rules for addresses that Plaza may call. The rules refuse private, local, reserved and other addresses that are not public, however an
 * address is written. The sandbox also allows loopback and http, and the option `--allow-callback` allows further addresses. The functions of this
 * file do not use the network: `client.ts` resolves a name and calls `addressRefusal` for each address of the name.
 */
import ipaddr from "ipaddr.js";

export interface CallbackRules {
  readonly isSandbox: boolean;
  /** The values of `--allow-callback`: address ranges such as `10.0.0.0/8`, single addresses, and host names. */
  readonly allowed: readonly string[];
}

export interface CallbackTarget {
  readonly isTls: boolean;
  /** The host in lower case and without brackets: a name, or an IP address in its normal form. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
  /** The value of the `Host` header. */
  readonly authority: string;
  /** The path and the query of the URL. */
  readonly path: string;
}

/** The error for an address that Plaza may not call. The message gives the reason to the person who set the address. */
export class CallbackRefused extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = "CallbackRefused";
  }
}

/** The greatest length of a URL, twice the length that common browsers and proxies accept. The limit for the URLs of overrides is lower (D-57). */
const URL_CHARACTERS_MAX = 4_096;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Reads and checks a URL without resolving its host name; the addresses of the host are checked later. Throws `CallbackRefused`. */
export function readCallback(url: string, rules: CallbackRules): CallbackTarget {
  if (url.length > URL_CHARACTERS_MAX) throw new CallbackRefused(`the address is longer than ${URL_CHARACTERS_MAX} characters`);
  // URL parsers drop or replace tabs, newlines, spaces and backslashes. Only a URL that is meant to mislead has such a character.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  if (/[\u0000-\u0020\u007f\\]/.test(url)) throw new CallbackRefused("the address contains white space, a control character or a backslash");
  const written = /^(https?):\/\/([^/?#]*)/i.exec(url);
  if (written === null)
    throw new CallbackRefused(rules.isSandbox ? "the address is not an http or https address" : "the address is not an https address");
  const scheme = (written[1] as string).toLowerCase() as "http" | "https";
  if (scheme === "http" && !rules.isSandbox) throw new CallbackRefused("the address is not an https address");
  const authority = written[2] as string;
  // If a URL has more than two slashes after the scheme, parsers use the text after the slashes as the host.
  if (authority === "") throw new CallbackRefused("the address has no host");
  if (authority.includes("@")) throw new CallbackRefused("the address contains credentials");
  const parsed = URL.parse(url);
  if (parsed === null) throw new CallbackRefused("the address is not valid");
  const { host, isLiteral } = readHost(parsed.hostname, writtenHost(authority), rules);
  const port = parsed.port === "" ? DEFAULT_PORTS[scheme] : Number(parsed.port);
  const isLocal = rules.isSandbox && (isLiteral ? isLoopback(host) : isLocalName(host));
  if (!isLocal && (port === 0 || isKnownServicePort(port))) throw new CallbackRefused(`port ${port} belongs to another kind of service`);
  if (isLiteral) {
    const refusal = addressRefusal(host, host, rules);
    if (refusal !== undefined) throw new CallbackRefused(refusal);
  }
  return { isTls: scheme === "https", host, isLiteral, port, authority: parsed.host, path: parsed.pathname + parsed.search };
}

/** The host as the caller wrote it, without its port. */
const writtenHost = (authority: string): string => authority.replace(/:\d*$/, "");

function readHost(hostname: string, written: string, rules: CallbackRules): { host: string; isLiteral: boolean } {
  if (written.includes("%")) throw new CallbackRefused("the host of the address contains a percent sign");
  if (hostname.startsWith("[")) return { host: hostname.slice(1, -1), isLiteral: true };
  if (ipaddr.IPv4.isValidFourPartDecimal(hostname)) {
    // Parsing changes an address that is decimal, octal, hexadecimal or shortened, or that uses digits of other scripts. Plaza refuses an address
    // that parsing changes.
    if (written !== hostname) throw new CallbackRefused("the IP address must be four decimal numbers, such as 192.0.2.1");
    return { host: hostname, isLiteral: true };
  }
  if (hostname.endsWith(".")) throw new CallbackRefused("the host of the address ends in a dot");
  if (isAllowedName(hostname, rules)) return { host: hostname, isLiteral: false };
  if (isLocalName(hostname)) {
    if (rules.isSandbox) return { host: hostname, isLiteral: false };
    throw new CallbackRefused(allowedBy(hostname, "the address leads to this machine"));
  }
  if (isInnerName(hostname)) throw new CallbackRefused(allowedBy(hostname, `${hostname} is a name of an inner network`));
  return { host: hostname, isLiteral: false };
}

/** Whether the host name always means the machine itself, like `localhost` (RFC 6761). */
const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/**
 * Whether the name belongs to a private network: a name without a dot, a name from RFC 6762, RFC 8375 or RFC 7686, or the name of a cloud's metadata
 * service (`metadata.google.internal`).
 */
const isInnerName = (host: string): boolean => !host.includes(".") || /\.(local|localdomain|internal|intranet|home\.arpa|onion)$/.test(host);

const isAllowedName = (host: string, { allowed }: CallbackRules): boolean => allowed.some((entry) => entry.toLowerCase() === host);

/** Addresses in public ranges that only machines inside a cloud can reach. */
const INNER_ADDRESSES: readonly string[] = ["168.63.129.16"];

/**
 * Returns the reason why Plaza may not call `address`, to which `host` resolved. The result is undefined if Plaza may call the address. An IPv6
 * address that contains an IPv4 address is always refused, because a gateway could forward the request to the IPv4 address, which is not checked.
 */
export function addressRefusal(address: string, host: string, rules: CallbackRules): string | undefined {
  if (address.includes("%") || !ipaddr.isValid(address)) return `${address} is not an address that can be called`;
  if (isAllowedName(host, rules) || isInAllowedRange(address, rules)) return undefined;
  if (rules.isSandbox && isLoopback(address)) return undefined;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range === "unicast" && !INNER_ADDRESSES.includes(parsed.toString())) {
    if (parsed instanceof ipaddr.IPv4 || isGlobalIpv6(parsed as ipaddr.IPv6)) return undefined;
  }
  return allowedBy(address, `${address} is not a public address${range === "unicast" ? "" : ` (${range})`}`);
}

/** Adds the option that would allow the host or address to the message of a refusal. */
export const allowedBy = (host: string, problem: string): string => `${problem}; --allow-callback ${host} allows it`;

function isLoopback(address: string): boolean {
  return ipaddr.parse(address).range() === "loopback";
}

/**
 * Whether the address is public. 2000::/3 is the range of all routed IPv6 addresses. ISATAP addresses (RFC 5214) are excluded, because the second
 * half of an ISATAP address contains an IPv4 address.
 */
function isGlobalIpv6({ parts }: ipaddr.IPv6): boolean {
  const first = parts[0] as number;
  const isIsatap = ((parts[4] as number) & 0xfdff) === 0 && parts[5] === 0x5efe;
  return first >= 0x2000 && first <= 0x3fff && !isIsatap;
}

function isInAllowedRange(address: string, { allowed }: CallbackRules): boolean {
  const parsed = ipaddr.parse(address);
  return allowed.some((entry) => {
    const [base = "", bits] = entry.split("/");
    if (!ipaddr.isValid(base)) return false;
    const range = ipaddr.parse(base);
    if (range.kind() !== parsed.kind()) return false;
    return parsed.match(range, bits === undefined ? (range.kind() === "ipv4" ? 32 : 128) : Number(bits));
  });
}

/**
 * Ports of services that do not speak HTTP or do not authenticate callers. A POST to such a service may do harm. The list has the ports that browsers
 * block for this reason (Fetch standard, "bad port"), and the ports of databases, queues and control planes in private networks.
 */
const BROWSERS: readonly number[] = [
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123,
  135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995,
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

const INNER: readonly number[] = [
  445, // SMB
  873, // rsync
  1433, // SQL Server
  1521, // Oracle
  1883, // MQTT
  2181, // ZooKeeper
  2375, // Docker
  2376, // Docker, TLS
  2379, // etcd
  2380, // etcd, peers
  3306, // MySQL
  3389, // RDP
  4369, // Erlang's port mapper
  5432, // PostgreSQL
  5671, // AMQP, TLS
  5672, // AMQP
  5900, // VNC
  5984, // CouchDB
  5985, // WinRM
  5986, // WinRM, TLS
  6379, // Redis
  6443, // Kubernetes
  7000, // Cassandra
  8086, // InfluxDB
  8500, // Consul
  9042, // Cassandra
  9092, // Kafka
  9200, // Elasticsearch
  9300, // Elasticsearch, nodes
  10250, // kubelet
  11211, // memcached
  27017, // MongoDB
  50000, // DB2
];

const ports: ReadonlySet<number> = new Set([...BROWSERS, ...INNER]);

export const isKnownServicePort = (port: number): boolean => ports.has(port);
