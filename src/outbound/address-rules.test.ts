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

/** Each is refused outside the sandbox before any name is resolved. */
const hostile: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.1", "127.1.2.3", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]", "localhost", "LOCALHOST", "a.localhost", "localhost."],
  private: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[fc00::1]", "[fd12:3456:789a::1]", "[fec0::1]"],
  "link-local and metadata": [
    ...["169.254.169.254", "169.254.170.2", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192", "168.63.129.16"],
    ...["metadata.google.internal", "metadata"],
  ],
  "shared, reserved, documentation, benchmarking": [
    ...["100.64.0.1", "100.127.255.255", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "240.0.0.1", "192.88.99.1"],
    ...["[2001:db8::1]", "[3fff::1]", "[100::1]", "[2001:2::1]"],
  ],
  "multicast, broadcast, unspecified": ["224.0.0.1", "239.255.255.250", "255.255.255.255", "0.0.0.0", "0.1.2.3", "[ff02::1]", "[::]"],
  "IPv4 inside IPv6": [
    ...["[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::8.8.8.8]", "[2002:7f00:1::1]", "[2002:808:808::1]"],
    ...["[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[::ffff:0:127.0.0.1]"],
    "[2606:4700::5efe:7f00:1]",
  ],
  "decimal, octal, hexadecimal, short": [
    ...["2130706433", "134744072", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "8.8.2056", "0", "010.8.8.8"],
    ...["%31%32%37.0.0.1", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "8.8.8.8.", "127.0.0.1.", "hooks%2eexample.com"],
  ],
  "zone ids": ["[fe80::1%25eth0]", "[fe80::1%eth0]"],
  "inner names": ["printer", "db.local", "vault.internal", "nas.home.arpa", "intranet", "abcdefghijklmnop.onion", "hooks.example.com."],
  "ports of known services": [
    ...["hooks.example.com:22", "hooks.example.com:25", "hooks.example.com:53", "hooks.example.com:5432", "hooks.example.com:6379"],
    ...["hooks.example.com:11211", "hooks.example.com:3306", "hooks.example.com:9200", "hooks.example.com:2375", "93.184.216.34:6667"],
    "hooks.example.com:0",
  ],
  credentials: [
    "user@hooks.example.com",
    "user:password@hooks.example.com",
    "hooks.example.com@10.0.0.1",
    "hooks.example.com:80@127.0.0.1",
    "@hooks.example.com",
  ],
  "characters that parsers read in different ways": [
    "hooks.example.com\\@10.0.0.1",
    "10.0.0.1\\.example.com",
    "hooks.example.com\t",
    "hooks .example.com",
  ],
  "no host": ["", ":443", "#", "?", "[", "[::", "hooks.example.com:99999", "a".repeat(5_000)],
};

describe("D-64: callback addresses outside the sandbox", () => {
  for (const [what, hosts] of Object.entries(hostile)) {
    for (const host of hosts) {
      test(`${what}: https://${host.slice(0, 60)} is refused`, () => expect(refusalOf(`https://${host}/hook`, outside)).toBeString());
    }
  }

  test("there are at least 60 of them, and the check can say yes", () => {
    expect(new Set(Object.values(hostile).flat()).size).toBeGreaterThan(60);
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
      " https://hooks.example.com/",
      "https:hooks.example.com",
    ],
  ])("%p is not https", (url) => expect(refusalOf(url, outside)).toBeString());

  test.each([
    ["https://hooks.example.com/a/b?c=d", { host: "hooks.example.com", port: 443, path: "/a/b?c=d", isTls: true, isLiteral: false }],
    ["https://HOOKS.Example.com:8443", { host: "hooks.example.com", port: 8443, path: "/", authority: "hooks.example.com:8443" }],
    ["https://93.184.216.34/x#fragment", { host: "93.184.216.34", isLiteral: true, path: "/x" }],
    ["https://[2606:2800:220:1::1]:9443/", { host: "2606:2800:220:1::1", isLiteral: true, authority: "[2606:2800:220:1::1]:9443" }],
    ["https://bücher.example/ä", { host: "xn--bcher-kva.example", path: "/%C3%A4" }],
    ["https://127.0.0.1.example.com/", { host: "127.0.0.1.example.com", isLiteral: false }],
  ])("%p is allowed", (url, expected) => expect(readCallback(url, outside)).toMatchObject(expected));
});

describe("D-64: how an address is read", () => {
  test("a scheme in capitals is the same scheme: nothing travels in the clear", () => {
    expect(readCallback("HTTPS://hooks.example.com/", outside)).toMatchObject({ isTls: true, port: 443 });
    expect(readCallback("HtTp://hooks.example.com/", sandbox)).toMatchObject({ isTls: false, port: 80 });
    expect(refusalOf("HTTP://hooks.example.com/", outside)).toBe("it is not an https address");
  });

  test("what is refused says which schemes there are", () => {
    expect([refusalOf("ftp://hooks.example.com/", outside), refusalOf("ftp://hooks.example.com/", sandbox)]).toEqual([
      "it is not an https address",
      "it is not an http or https address",
    ]);
  });

  test("an address that is allowed by itself allows no other one of its network", () => {
    const rules: CallbackRules = { isSandbox: false, allowed: ["fd00::1", "10.0.0.1"] };
    const refused = ["fd00::1", "fd00::2", "10.0.0.1", "10.0.0.2"].filter(
      (address) => addressRefusal(address, "hooks.example.com", rules) !== undefined,
    );
    expect(refused).toEqual(["fd00::2", "10.0.0.2"]);
  });

  test("what is refused is said with its kind, and what a resolver returns that is no address is refused", () => {
    const said = (address: string) => addressRefusal(address, "hooks.example.com", sandbox);
    expect([said("10.0.0.1"), said("168.63.129.16"), said("2606:4700::1%eth0"), said("::1%lo"), said("nonsense"), said("")]).toEqual([
      "10.0.0.1 is not a public address (private)",
      "168.63.129.16 is not a public address",
      "2606:4700::1%eth0 is not an address that can be called",
      "::1%lo is not an address that can be called",
      "nonsense is not an address that can be called",
      " is not an address that can be called",
    ]);
  });

  test("an address has 4,096 characters at most", () => {
    const ofLength = (length: number): string => "https://hooks.example.com/".padEnd(length, "x");
    expect(refusalOf(ofLength(4_096), outside)).toBeUndefined();
    expect(refusalOf(ofLength(4_097), outside)).toBe("it is longer than 4096 characters");
  });
});

describe("D-64: which of two neighbouring addresses is public", () => {
  test.each([
    // ISATAP (RFC 5214), with and without the bit of a global identifier.
    ["2606:4700::5efe:808:808", false],
    ["2606:4700::200:5efe:808:808", false],
    ["2606:4700::400:5efe:808:808", true],
    ["2606:4700::1:5efe:808:808", true],
    ["2606:4700::5eff:808:808", true],
    // All of IPv6 that is routed.
    ["1fff:ffff::1", false],
    ["2000::1", true],
    ["3ffe::1", true],
    ["3fff:1000::1", true],
    ["4000::1", false],
    // Teredo, 6to4, NAT64, and the beginning of documentation.
    ["2001::1", false],
    ["2001:db7:ffff::1", true],
    ["2001:db8::1", false],
    ["2001:db9::1", true],
    ["2001:ffff::1", true],
    ["2002::1", false],
    ["2003::1", true],
    ["64:ff9b::808:808", false],
    ["3fff::1", false],
    // The ends of IPv4 ranges.
    ["9.255.255.255", true],
    ["10.0.0.0", false],
    ["10.255.255.255", false],
    ["11.0.0.0", true],
    ["100.63.255.255", true],
    ["100.64.0.0", false],
    ["100.127.255.255", false],
    ["100.128.0.0", true],
    ["126.255.255.255", true],
    ["127.0.0.0", false],
    ["128.0.0.0", true],
    ["169.253.255.255", true],
    ["169.254.0.0", false],
    ["169.255.0.0", true],
    ["172.15.255.255", true],
    ["172.16.0.0", false],
    ["172.31.255.255", false],
    ["172.32.0.0", true],
    ["192.167.255.255", true],
    ["192.168.0.0", false],
    ["192.169.0.0", true],
    ["198.17.255.255", true],
    ["198.18.0.0", false],
    ["198.19.255.255", false],
    ["198.20.0.0", true],
    ["223.255.255.255", true],
    ["224.0.0.0", false],
    ["168.63.129.15", true],
    ["168.63.129.16", false],
    ["168.63.129.17", true],
  ])("%s: %p", (address, isPublic) => {
    expect({ address, isPublic: addressRefusal(address, "hooks.example.com", outside) === undefined }).toEqual({ address, isPublic });
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
    ...["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]/", "http://2130706433/", "http://0177.0.0.1/"],
    ...["http://0.0.0.0/", "http://printer/", "http://hooks.example.com:6379/", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://localhost./"],
  ])("%p is refused all the same", (url) => expect(refusalOf(url, sandbox)).toBeString());
});

describe("--allow-callback", () => {
  const allowed = (...entries: string[]): CallbackRules => ({ isSandbox: false, allowed: entries });

  test("a range allows its addresses and no others, https all the same", () => {
    const rules = allowed("10.1.0.0/16", "fd00:1::/32", "192.168.7.7");
    for (const host of ["10.1.2.3", "[fd00:1::5]", "192.168.7.7"]) expect(refusalOf(`https://${host}/`, rules)).toBeUndefined();
    for (const host of ["10.2.0.1", "[fd00:2::5]", "192.168.7.8", "[::ffff:10.1.2.3]"]) expect(refusalOf(`https://${host}/`, rules)).toBeString();
    expect(refusalOf("http://10.1.2.3/", rules)).toBeString();
    expect(refusalOf("https://10.1.2.3:6379/", rules)).toBeString();
  });

  test("a name allows whatever it leads to, for that name alone", () => {
    const rules = allowed("Receiver");
    expect(refusalOf("https://receiver/hook", rules)).toBeUndefined();
    expect(refusalOf("https://other/hook", rules)).toBeString();
    expect(addressRefusal("172.18.0.4", "receiver", rules)).toBeUndefined();
    expect(addressRefusal("172.18.0.4", "other.example.com", rules)).toBeString();
  });
});

describe("properties", () => {
  const byte = fc.nat(255);
  const ipv4 = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join("."));

  test("an address counts as public exactly where the registry of special ranges has nothing to say of it", () => {
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
        expect(addressRefusal(prefix + address, "hooks.example.com", outside)).toBeString();
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
        // Nothing that ends a line may reach the request.
        expect(target.path + target.authority).toMatch(/^[\u0021-\u007e]+$/);
      }),
    );
  });
});
