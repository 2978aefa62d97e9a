import { expect, test } from "bun:test";
import type { Registry } from "#graph/contract/registry";
import { Shares } from "#kernel/shares";
import { connectionsWithin, defaultLimits, largestBody, limitsOf, multipartLimits, parserHeaderBytesMax } from "../limits.ts";
import { hostnameOf, Origins } from "./origin.ts";

const origins = new Origins(["10.0.0.0/8", "fd00::/8"]);
const clientOf = (remoteAddress: string | undefined, ...forwarded: string[]): string =>
  origins.clientOf(
    forwarded.flatMap((value) => ["X-Forwarded-For", value]),
    { remoteAddress },
  );

test.each([
  { title: "the other end of the connection", client: clientOf("203.0.113.1"), is: "203.0.113.1" },
  { title: "that also where it names others, if it is no trusted proxy", client: clientOf("203.0.113.1", "198.51.100.1"), is: "203.0.113.1" },
  { title: "what a trusted proxy received the request from", client: clientOf("10.0.0.1", "198.51.100.1"), is: "198.51.100.1" },
  { title: "of a chain the last that is no trusted proxy", client: clientOf("10.0.0.1", "192.0.2.1, 198.51.100.1, 10.0.0.2"), is: "198.51.100.1" },
  { title: "the same in two headers", client: clientOf("10.0.0.1", "192.0.2.1", "198.51.100.1", "10.0.0.2"), is: "198.51.100.1" },
  { title: "the first where all are trusted", client: clientOf("10.0.0.1", "10.0.0.3,10.0.0.2"), is: "10.0.0.3" },
  { title: "the proxy that wrote down what is no address", client: clientOf("10.0.0.1", "192.0.2.1, unknown, 10.0.0.2"), is: "10.0.0.2" },
  { title: "the proxy that wrote down nothing", client: clientOf("10.0.0.1"), is: "10.0.0.1" },
  { title: "without the port that some proxies write", client: clientOf("10.0.0.1", "198.51.100.1:4711"), is: "198.51.100.1" },
  { title: "the same of IPv6", client: clientOf("fd00::1", "[2001:db8:1:2:3::4]:4711"), is: "2001:db8:1:2::/64" },
  { title: "of IPv6 the network that one client has to itself", client: clientOf("2001:db8::9%eth0"), is: "2001:db8:0:0::/64" },
  { title: "of IPv4 on an IPv6 socket as IPv4", client: clientOf("::ffff:203.0.113.1"), is: "203.0.113.1" },
  { title: "nothing of a connection that is gone", client: clientOf(undefined), is: "" },
])("D-97: a client is $title", ({ client, is }) => {
  expect(client).toBe(is);
});

test("connections leave files to the database, the control API and deliveries", () => {
  const [few, some, many] = [256, 1_024, 20_000].map((filesMax) => connectionsWithin(8_192, filesMax));
  expect({ few, some, many, asked: connectionsWithin(100, 20_000) }).toEqual({ few: 128, some: 512, many: 8_192, asked: 100 });
  // If the system allows many open files, clients get all but 4,864 of these files. If the system allows few open files, clients get half of these
  // files, and at least one.
  expect([connectionsWithin(99_999, 20_000), connectionsWithin(99_999, 9_730), connectionsWithin(99_999, 9_726)]).toEqual([15_136, 4_866, 4_863]);
  expect([connectionsWithin(9, 3), connectionsWithin(9, 1)]).toEqual([1, 1]);
});

test("D-01: scheme and host are the request's own, or those that a trusted proxy reports", () => {
  const behind = new Origins(["10.0.0.1", "fd00::1"]);
  const of = (remoteAddress: string | undefined, headers: Record<string, string>, named: string | undefined = "own.test") => {
    const { scheme, host } = behind.of(Object.entries(headers).flat(), named, { remoteAddress });
    return `${scheme}://${host}`;
  };
  const forwarded = { "x-forwarded-host": "public.test:8443, inner.test", "x-forwarded-proto": "HTTPS, http" };
  expect([of("10.0.0.1", forwarded), of("fd00::1", forwarded), of("::ffff:10.0.0.1", forwarded)]).toEqual(Array(3).fill("https://public.test:8443"));
  expect([of("10.0.0.2", forwarded), of("fd00::2", forwarded), of(undefined, forwarded), of("no address", forwarded)]).toEqual(
    Array(4).fill("http://own.test"),
  );
  expect([of("10.0.0.1", { "x-forwarded-proto": "ftp" }), of("10.0.0.1", { "x-forwarded-host": "a b" }), of("10.0.0.1", {})]).toEqual(
    Array(3).fill("http://own.test"),
  );
  behind.configured("https", "0.0.0.0", 443);
  expect([of("10.0.0.1", { "x-forwarded-proto": "http" }), of("10.0.0.2", {})]).toEqual(["http://own.test", "https://own.test"]);
  const reached = (hostname: string): string => {
    behind.configured("http", hostname, 80);
    return behind.of([], undefined, { remoteAddress: undefined }).host;
  };
  expect(["0.0.0.0", "::", "::1", "127.0.0.1", "a.test"].map(reached)).toEqual([
    ...["localhost:80", "localhost:80", "[::1]:80", "127.0.0.1:80", "a.test:80"],
  ]);
  expect([behind.isProxy({ remoteAddress: "10.0.0.1" }), behind.isProxy({ remoteAddress: "10.0.0.2" })]).toEqual([true, false]);
  expect(new Origins([]).isProxy({ remoteAddress: "10.0.0.1" })).toBe(false);
  expect(() => new Origins(["no range"])).toThrow("has neither IPv6 nor IPv4 CIDR format");
});

test("links begin with the request's address, or with the public one, whose port also applies to a surface's own host name", () => {
  const request = { scheme: "http", host: "own.test:80" };
  const base = (publicUrl: string | undefined, hostname?: string) => new Origins([], publicUrl).baseUrlOf(request, { mount: "/ads", hostname });
  expect([base(undefined), base(undefined, "ads.test"), base("https://plaza.test/x"), base("https://plaza.test:8443", "ads.test")]).toEqual([
    ...["http://own.test:80/ads", "http://own.test:80/ads", "https://plaza.test/x/ads", "https://ads.test:8443/ads"],
  ]);
  expect(base("https://plaza.test", "ads.test")).toBe("https://ads.test/ads");
  expect(["A.test:80", "A.test", "[::1]:80", "[FD00::1]", ""].map(hostnameOf)).toEqual(["a.test", "a.test", "[::1]", "[fd00::1]", ""]);
});

test("limits grow with the limit of bodies: four of the largest may arrive, and twice as much may be held", () => {
  expect(limitsOf({})).toEqual(defaultLimits);
  expect(limitsOf({ bodyBytesMax: 10_000_000 })).toMatchObject({ arrivingBytesMax: 40_000_000, connectionBytesMax: 80_000_000 });
  expect([parserHeaderBytesMax(limitsOf({})), parserHeaderBytesMax(limitsOf({ headerBytesMax: 40_000 }))]).toEqual([65_536, 80_000]);
  const limits = { ...limitsOf({ bodyBytesMax: 100 }), multipartBytesMaxFor: (_: string, path: string) => (path === "/files" ? 200 : undefined) };
  const largest = (path: string, contentType?: string, bodyBytesMax = 100) =>
    largestBody({ ...limits, bodyBytesMax }, { surface: "base", path }, contentType);
  expect([largest("/files", "Multipart/Form-Data; boundary=x"), largest("/files", "multipart/form-database"), largest("/files")]).toEqual([
    200, 100, 100,
  ]);
  expect([largest("/other", "multipart/form-data"), largest("/files", "multipart/form-data", 300)]).toEqual([100, 300]);
});

test("bodies of up to 8 MiB need only the default memory", () => {
  expect(limitsOf({ bodyBytesMax: 8_388_608 })).toEqual({ ...defaultLimits, bodyBytesMax: 8_388_608 });
  expect(limitsOf({ bodyBytesMax: 8_388_609 })).toMatchObject({ arrivingBytesMax: 33_554_436, connectionBytesMax: 67_108_872 });
});

test("by default two of the largest bodies run at a time, and four apps with all their waiting requests leave no room for a fifth", () => {
  const { requestsMax, requestBytesMax, bodyBytesMax, waiting, waitingOfAppMax } = defaultLimits;
  /** The number of requests of one app that are accepted. */
  const taken = (shares: Shares, app: string, size: number): number => {
    const account = shares.accountOf(app, "a");
    for (let count = 0; ; count++) {
      if (shares.lacks(account, size) !== undefined) return count;
      shares.hold(account, size);
    }
  };
  expect(taken(new Shares({ count: requestsMax, size: requestBytesMax }), "1", bodyBytesMax)).toBe(2);
  for (const size of [0, bodyBytesMax]) {
    const shares = new Shares(waiting, waitingOfAppMax);
    const each = ["1", "2", "3", "4"].map((app) => taken(shares, app, size));
    expect({ each, isFull: shares.isFull }).toEqual({ each: Array(4).fill(size === 0 ? 64 : 1), isFull: true });
  }
});

test("an edge that accepts files has its own limit on the base surface, in any address", () => {
  const contract = (edge: string | null, multipartBytesMax?: number) => ({ served: { contract: { edge, multipartBytesMax } } });
  const endpoints = [{ served: undefined }, contract(null, 5), contract("labels"), contract("videos", 100)] as unknown as Registry["endpoints"];
  const limitFor = multipartLimits(endpoints);
  expect(["/v26.0/2001/videos", "videos", "/2001/labels", "/2001/", "/2001/videos/1"].map((path) => limitFor("base", path))).toEqual([
    ...[100, 100, undefined, undefined, undefined],
  ]);
  expect(limitFor("ads", "/v26.0/2001/videos")).toBeUndefined();
});
