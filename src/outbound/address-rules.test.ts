import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { addressRefusal, CallbackRefused, type CallbackRules, readCallback } from "./address-rules.ts";

const outside: CallbackRules = { isSandbox: false, allowed: [] };
const sandbox: CallbackRules = { isSandbox: true, allowed: [] };

const refusalOf = (url: string, rules: CallbackRules): string | undefined => {
  try {
    readCallback(url, rules);
    return undefined;
  } catch (error) {
    if (error instanceof CallbackRefused) return error.reason;
    throw error;
  }
};

/**
 * Returns the message of the refusal of an address that is not public. The address is given with or without brackets; `range` is the name of its
 * range.
 */
const notPublic = (range?: string) => (host: string) => {
  const address = host.replace(/^\[|\]$/g, "");
  return allowing(address, `${address} is not a public address${range === undefined ? "" : ` (${range})`}`);
};
const allowing = (host: string, problem: string) => `${problem}; --allow-callback ${host} allows it`;
const innerName = (host: string) => allowing(host, `${host} is a name of an inner network`);
const otherService = (_host: string, port: string) => `port ${port} belongs to another kind of service`;
const unusual = () => "the IP address must be four decimal numbers, such as 192.0.2.1";

/**
 * Hosts that are refused outside of the sandbox before any name is resolved. Each has the reason of the refusal, which names the host in its normal
 * form, and a port.
 */
const hostile: readonly { readonly what: string; readonly reason: (host: string, port: string) => string; readonly hosts: readonly string[] }[] = [
  { what: "loopback", reason: notPublic("loopback"), hosts: ["127.0.0.1", "127.1.2.3", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]"] },
  { what: "this machine", reason: (host) => allowing(host, "the address leads to this machine"), hosts: ["localhost", "LOCALHOST", "a.localhost"] },
  { what: "a last dot", reason: () => "the host of the address ends in a dot", hosts: ["localhost.", "hooks.example.com."] },
  { what: "private", reason: notPublic("private"), hosts: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"] },
  { what: "private IPv6, metadata", reason: notPublic("uniqueLocal"), hosts: ["[fc00::1]", "[fd12:3456:789a::1]", "[fd00:ec2::254]"] },
  { what: "site-local", reason: notPublic("deprecatedSiteLocal"), hosts: ["[fec0::1]"] },
  { what: "link-local, metadata", reason: notPublic("linkLocal"), hosts: ["169.254.169.254", "169.254.170.2", "[fe80::1]"] },
  { what: "shared, metadata", reason: notPublic("carrierGradeNat"), hosts: ["100.64.0.1", "100.127.255.255", "100.100.100.200"] },
  { what: "inside a cloud", reason: notPublic(), hosts: ["168.63.129.16"] },
  {
    what: "reserved, documentation, metadata",
    reason: notPublic("reserved"),
    hosts: [...["192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "240.0.0.1", "192.88.99.1", "192.0.0.192", "[2001:db8::1]", "[3fff::1]"]],
  },
  { what: "discard", reason: notPublic("discard"), hosts: ["[100::1]"] },
  { what: "benchmarking", reason: notPublic("benchmarking"), hosts: ["[2001:2::1]"] },
  { what: "multicast", reason: notPublic("multicast"), hosts: ["224.0.0.1", "239.255.255.250", "[ff02::1]"] },
  { what: "broadcast", reason: notPublic("broadcast"), hosts: ["255.255.255.255"] },
  { what: "unspecified", reason: notPublic("unspecified"), hosts: ["0.0.0.0", "0.1.2.3", "[::]"] },
  { what: "IPv4 mapped", reason: notPublic("ipv4Mapped"), hosts: ["[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::ffff:7f00:1]"] },
  { what: "IPv4 compatible, ISATAP", reason: notPublic(), hosts: ["[::127.0.0.1]", "[::8.8.8.8]", "[2606:4700::5efe:7f00:1]"] },
  { what: "6to4", reason: notPublic("6to4"), hosts: ["[2002:7f00:1::1]", "[2002:808:808::1]"] },
  { what: "NAT64", reason: notPublic("rfc6052"), hosts: ["[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]"] },
  { what: "IPv4 translated", reason: notPublic("rfc6145"), hosts: ["[::ffff:0:127.0.0.1]"] },
  { what: "Teredo", reason: notPublic("teredo"), hosts: ["[2001:0:4136:e378:8000:63bf:3fff:fdd2]"] },
  {
    what: "decimal, octal, hexadecimal, short, other digits",
    reason: unusual,
    hosts: [
      ...["2130706433", "134744072", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "8.8.2056", "0", "010.8.8.8"],
      ...["１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "8.8.8.8.", "127.0.0.1."],
    ],
  },
  { what: "percent", reason: () => "the host of the address contains a percent sign", hosts: ["%31%32%37.0.0.1", "hooks%2eexample.com"] },
  {
    what: "inner names",
    reason: innerName,
    hosts: [
      ...["printer", "db.local", "db.localdomain", "vault.internal", "nas.home.arpa", "intranet", "wiki.intranet", "abcdefghijklmnop.onion"],
      ...["metadata.google.internal", "metadata"],
    ],
  },
  {
    what: "ports of known services",
    reason: otherService,
    hosts: [22, 25, 53, 5_432, 6_379, 11_211, 3_306, 9_200, 2_375, 6_667, 0].flatMap((port) => [
      `hooks.example.com:${port}`,
      `93.184.216.34:${port}`,
    ]),
  },
  {
    what: "credentials",
    reason: () => "the address contains credentials",
    hosts: [
      ...["user@hooks.example.com", "user:password@hooks.example.com", "hooks.example.com@10.0.0.1", "hooks.example.com:80@127.0.0.1"],
      ...["@hooks.example.com", "@"],
    ],
  },
  {
    what: "characters that parsers read in different ways",
    reason: () => "the address contains white space, a control character or a backslash",
    hosts: ["hooks.example.com\\@10.0.0.1", "10.0.0.1\\.example.com", "hooks.example.com\t", "hooks .example.com", "hooks.example.com\u007f"],
  },
  // If a URL has no host, some parsers take the text that follows for the host, even if the text contains credentials.
  { what: "no host", reason: () => "the address has no host", hosts: ["", "#", "?", "/hooks.example.com", "/user:password@hooks.example.com"] },
  {
    what: "no address",
    reason: () => "the address is not valid",
    hosts: [":443", "[", "[::", "hooks.example.com:99999", "[fe80::1%25eth0]", "[fe80::1%eth0]"],
  },
  { what: "too long", reason: () => "the address is longer than 4096 characters", hosts: ["a".repeat(5_000)] },
];

describe("D-64: callback addresses outside the sandbox", () => {
  for (const { what, reason, hosts } of hostile) {
    for (const host of hosts) {
      test(`${what}: https://${host.slice(0, 60)} is refused, with its reason`, () => {
        const { hostname = "", port = "" } = URL.parse(`https://${host}`) ?? {};
        expect(refusalOf(`https://${host}/hook`, outside)).toBe(reason(hostname, port));
      });
    }
  }

  test("there are at least 60 of them, and the check can accept one", () => {
    expect(new Set(hostile.flatMap(({ hosts }) => hosts)).size).toBeGreaterThan(60);
    expect(refusalOf("https://hooks.example.com/hook", outside)).toBeUndefined();
  });

  test.each([
    ...["http://hooks.example.com/", "http://93.184.216.34/", "ftp://hooks.example.com/", "file:///etc/passwd", "gopher://hooks.example.com/"],
    ...[
      "javascript:alert(1)",
      "data:text/plain,hi",
      "//hooks.example.com/",
      "hooks.example.com",
      "",
      "https:hooks.example.com",
      "https:/a.example.com",
    ],
  ])("%p is not https", (url) => expect(refusalOf(url, outside)).toBe("the address is not an https address"));

  test("an address begins with its scheme, without a space before it", () =>
    expect(refusalOf(" https://hooks.example.com/", outside)).toBe("the address contains white space, a control character or a backslash"));

  test.each([
    ["https://hooks.example.com/a/b?c=d", { host: "hooks.example.com", port: 443, path: "/a/b?c=d", isTls: true, isLiteral: false }],
    ["https://HOOKS.Example.com:8443", { host: "hooks.example.com", port: 8443, path: "/", authority: "hooks.example.com:8443" }],
    ["https://93.184.216.34/x#fragment", { host: "93.184.216.34", isLiteral: true, path: "/x" }],
    ["https://[2606:2800:220:1::1]:9443/", { host: "2606:2800:220:1::1", isLiteral: true, authority: "[2606:2800:220:1::1]:9443" }],
    ["https://bücher.example/ä", { host: "xn--bcher-kva.example", path: "/%C3%A4" }],
    ["https://127.0.0.1.example.com/", { host: "127.0.0.1.example.com", isLiteral: false }],
  ])("%p is allowed", (url, expected) => expect(readCallback(url, outside)).toMatchObject(expected));
});

describe("D-64: reading an address", () => {
  test("a scheme in capitals is the same scheme: nothing is sent unencrypted", () => {
    expect(readCallback("HTTPS://hooks.example.com/", outside)).toMatchObject({ isTls: true, port: 443 });
    expect(readCallback("HtTp://hooks.example.com/", sandbox)).toMatchObject({ isTls: false, port: 80 });
    expect(refusalOf("HTTP://hooks.example.com/", outside)).toBe("the address is not an https address");
  });

  test("a refusal names the accepted schemes", () => {
    expect([refusalOf("ftp://hooks.example.com/", outside), refusalOf("ftp://hooks.example.com/", sandbox)]).toEqual([
      "the address is not an https address",
      "the address is not an http or https address",
    ]);
  });

  test("an address that is allowed by itself allows no other one of its network", () => {
    const rules: CallbackRules = { isSandbox: false, allowed: ["fd00::1", "10.0.0.1"] };
    const refused = ["fd00::1", "fd00::2", "10.0.0.1", "10.0.0.2"].filter(
      (address) => addressRefusal(address, "hooks.example.com", rules) !== undefined,
    );
    expect(refused).toEqual(["fd00::2", "10.0.0.2"]);
  });

  test("a refusal names the kind of address, and a resolver's answer that is not an address is refused", () => {
    const said = (address: string) => addressRefusal(address, "hooks.example.com", sandbox);
    expect([said("10.0.0.1"), said("168.63.129.16"), said("2606:4700::1%eth0"), said("::1%lo"), said("nonsense"), said("")]).toEqual([
      notPublic("private")("10.0.0.1"),
      notPublic()("168.63.129.16"),
      "2606:4700::1%eth0 is not an address that can be called",
      "::1%lo is not an address that can be called",
      "nonsense is not an address that can be called",
      " is not an address that can be called",
    ]);
  });

  test("an address has 4,096 characters at most", () => {
    const ofLength = (length: number): string => "https://hooks.example.com/".padEnd(length, "x");
    expect(refusalOf(ofLength(4_096), outside)).toBeUndefined();
    expect(refusalOf(ofLength(4_097), outside)).toBe("the address is longer than 4096 characters");
  });
});

describe("D-64: callback addresses in the sandbox", () => {
  test.each([
    "http://127.0.0.1:9000/hook",
    "http://localhost:3000/",
    "http://[::1]:8080/",
    "https://127.0.0.1/",
    "http://127.0.0.1:5432/",
    "http://hooks.example.com/",
  ])("%p is allowed", (url) => expect(refusalOf(url, sandbox)).toBeUndefined());

  test.each([
    ["http://10.0.0.1/", notPublic("private")("10.0.0.1")],
    ["http://169.254.169.254/latest/meta-data", notPublic("linkLocal")("169.254.169.254")],
    ["http://[::ffff:127.0.0.1]/", notPublic("ipv4Mapped")("::ffff:7f00:1")],
    ["http://0.0.0.0/", notPublic("unspecified")("0.0.0.0")],
    ["http://2130706433/", unusual()],
    ["http://0177.0.0.1/", unusual()],
    ["http://printer/", innerName("printer")],
    ["http://hooks.example.com:6379/", "port 6379 belongs to another kind of service"],
    ["http://localhost.example.com:6379/", "port 6379 belongs to another kind of service"],
    ["ftp://127.0.0.1/", "the address is not an http or https address"],
    ["http://a:b@127.0.0.1/", "the address contains credentials"],
    ["http://localhost./", "the host of the address ends in a dot"],
    ["http:///localhost/", "the address has no host"],
  ])("%p is still refused: %s", (url, reason) => expect(refusalOf(url, sandbox)).toBe(reason));
});

describe("--allow-callback", () => {
  const allowed = (...entries: string[]): CallbackRules => ({ isSandbox: false, allowed: entries });

  test("a range allows only its addresses, still with https", () => {
    const rules = allowed("10.1.0.0/16", "fd00:1::/32", "192.168.7.7");
    for (const host of ["10.1.2.3", "[fd00:1::5]", "192.168.7.7"]) expect(refusalOf(`https://${host}/`, rules)).toBeUndefined();
    const ranges = { "10.2.0.1": "private", "[fd00:2::5]": "uniqueLocal", "192.168.7.8": "private", "[::ffff:a01:203]": "ipv4Mapped" };
    for (const [host, range] of Object.entries(ranges)) expect(refusalOf(`https://${host}/`, rules)).toBe(notPublic(range)(host));
    expect(refusalOf("http://10.1.2.3/", rules)).toBe("the address is not an https address");
    expect(refusalOf("https://10.1.2.3:6379/", rules)).toBe("port 6379 belongs to another kind of service");
  });

  test("a refusal names the option that would allow the address", () => {
    for (const url of ["https://10.2.0.1/", "https://[fd00:2::5]/", "https://host.docker.internal/hook", "https://localhost/"]) {
      const [, option = ""] = /--allow-callback (\S+) allows it$/.exec(refusalOf(url, allowed()) ?? "") ?? [];
      expect({ url, refusal: refusalOf(url, allowed(option)) }).toEqual({ url, refusal: undefined });
    }
  });

  test("a name allows every address that it resolves to, only for that name", () => {
    const rules = allowed("Receiver");
    expect(refusalOf("https://receiver/hook", rules)).toBeUndefined();
    expect(refusalOf("https://other/hook", rules)).toBe(innerName("other"));
    expect(addressRefusal("172.18.0.4", "receiver", rules)).toBeUndefined();
    expect(addressRefusal("172.18.0.4", "other.example.com", rules)).toBe(notPublic("private")("172.18.0.4"));
  });
});

describe("properties", () => {
  const byte = fc.nat(255);
  const ipv4 = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join("."));

  test("an address counts as public exactly if the registry of special ranges does not list it", () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const isPublic = ipaddr.IPv4.parse(address).range() === "unicast" && address !== "168.63.129.16";
        expect(addressRefusal(address, address, outside) === undefined).toBe(isPublic);
        expect(refusalOf(`https://${address}/`, outside) === undefined).toBe(isPublic);
      }),
    );
  });

  test("an IPv4 address inside IPv6 is refused in every form", () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom("::ffff:", "::", "64:ff9b::", "::ffff:0:", "64:ff9b:1::"), (address, prefix) => {
        expect(addressRefusal(prefix + address, "hooks.example.com", outside)).toStartWith(`${prefix}${address} is not a public address`);
      }),
    );
  });

  test("any text is either refused or leads to a host that is neither empty nor local", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl(),
      fc.tuple(fc.constant("https://"), fc.string({ unit: "grapheme" })).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (url) => {
        if (refusalOf(url, outside) !== undefined) return;
        const target = readCallback(url, outside);
        expect(target.host).not.toBe("");
        expect(target.isTls).toBe(true);
        expect(target.path).toStartWith("/");
        // The request that Plaza sends must not contain a line break from the URL.
        expect(target.path + target.authority).toMatch(/^[\u0021-\u007e]+$/);
      }),
    );
  });
});
