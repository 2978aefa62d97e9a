/** Checks each reader at the limits of its values: the last accepted value, the first refused value, and the text of the error. */
import { describe, expect, test } from "bun:test";
import * as read from "./option-readers.ts";

const stub = (method: read.Stub["method"], edge: string, file: string): read.Stub => ({ method, type: "page", edge, file });

const problemOf = (reader: read.ReadValue<unknown>, value: unknown): string => {
  try {
    reader(value);
  } catch (error) {
    expect(error).toBeInstanceOf(read.ValueProblem);
    return (error as Error).message;
  }
  throw new Error(`${JSON.stringify(value)} was not refused`);
};

type Case = readonly [
  reader: read.ReadValue<unknown>,
  name: string,
  taken: readonly (readonly [given: unknown, as: unknown])[],
  refused: readonly unknown[],
];

const same = (...values: unknown[]) => values.map((value) => [value, value] as const);

const cases: readonly Case[] = [
  [read.text, "text", [...same("a", " a "), [5, "5"]], ["", " ", true, null, [], {}, undefined]],
  [
    read.integer(3, 20),
    "an integer",
    [...same(3, 20), ["3", 3], ["020", 20], ["0000000000000003", 3]],
    ["00000000000000003", 2, 21, "2", "21", 3.5, "3.5", "", " 3", "3 ", "+3", "0x3", true, null, Number.NaN, "12345678901234567"],
  ],
  [read.integer(0, Number.MAX_SAFE_INTEGER), "a large integer", same(0, Number.MAX_SAFE_INTEGER), [Number.MAX_SAFE_INTEGER + 1, -1]],
  [read.port, "a port", same(0, 65_535), [-1, 65_536]],
  [read.portOrOff, "a port or off", [...same(0, 65_535, "off"), [false, "off"]], [65_536, true, "on", "OFF", null]],
  [
    read.flag,
    "a flag",
    [
      [true, true],
      ["true", true],
      ["1", true],
      [false, false],
      ["false", false],
      ["0", false],
    ],
    [1, 0, "yes", "", null, "TRUE"],
  ],
  [read.oneOf(["a", "b"]), "one of some words", same("a", "b"), ["c", "", 1, ["a"], "a,b"]],
  [
    read.cidrs,
    "address ranges",
    [
      ["10.0.0.0/8, ::1", ["10.0.0.0/8", "::1"]],
      [
        ["10.0.0.0/0,10.0.0.0/32", "::/128"],
        ["10.0.0.0/0", "10.0.0.0/32", "::/128"],
      ],
      ["1.2.3.4", ["1.2.3.4"]],
    ],
    ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8/8", "10.0.0.0/0008", "host", "", 5, [5], "10.0.0.0/8,", true],
  ],
  [
    read.cidrsOrHosts,
    "address ranges or hosts",
    [
      ["10.0.0.0/8,receiver,a.b-c_d.e,_x", ["10.0.0.0/8", "receiver", "a.b-c_d.e", "_x"]],
      ["a".repeat(63), ["a".repeat(63)]],
    ],
    ["a".repeat(64), "-a", "a..b", "a.", `${"a.".repeat(126)}aa`, "a b", "a:1"],
  ],
  [
    read.hosts,
    "hosts",
    [
      ["Plaza, ::1,[fd00::1],10.0.0.1", ["plaza", "[::1]", "[fd00::1]", "10.0.0.1"]],
      [["a"], ["a"]],
    ],
    ["plaza:1", "plaza:", "[::1]:80", "a/b", 1],
  ],
  [
    read.origins,
    "origins",
    [
      ["null", ["null"]],
      ["https://A.example:443", ["https://a.example"]],
    ],
    ["a.example", "https://a.example/x", ""],
  ],
  [
    read.surfaceHosts,
    "hosts of surfaces",
    [
      ["app = App.example , ads=b", { app: "app.example", ads: "b" }],
      [{ app: "A" }, { app: "a" }],
      [["app=a"], { app: "a" }],
    ],
    ["app", "other=a", "app=a=b", "app=", "app=a:1", 5, null, true, { other: "a" }, { app: 5 }, [["app", "a"]], [5]],
  ],
  [
    read.stubs,
    "the files of edges",
    [
      ["page/insights=a.json,POST:page/feed=b.json", [stub("GET", "insights", "a.json"), stub("POST", "feed", "b.json")]],
      [["page/insights=a,b=c.json"], [stub("GET", "insights", "a,b=c.json")]],
      [{ "DELETE:page/feed": "x.json" }, [stub("DELETE", "feed", "x.json")]],
    ],
    [
      "page=a.json",
      "page/insights",
      "page/insights=",
      "/insights=a.json",
      "PUT:page/feed=a.json",
      "page/a/b=c.json",
      5,
      null,
      true,
      { "page/feed": 5.5 },
      [5],
    ],
  ],
  [
    read.publicUrl,
    "a public address",
    [
      [" https://a/b// ", "https://a/b"],
      ["HTTP://A:80", "http://a"],
    ],
    ["ftp://a", "https://u@a", "https://:p@a", "https://a?b", "https://a#b", "a", 5, null],
  ],
  [
    read.collectorUrl,
    "the address of a collector",
    [
      ["http://localhost:4318/", "http://localhost:4318"],
      ["https://a/otlp", "https://a/otlp"],
    ],
    ["localhost:4318", "grpc://a", "http://a/v1/traces", "http://a/v1/traces/", "http://u:p@a", 5],
  ],
  [
    read.ratio,
    "a part of a whole",
    [
      ["0", 0],
      ["0.05", 0.05],
      [".5", 0.5],
      [1, 1],
      [0.25, 0.25],
    ],
    ["", "-0.1", "1.1", "1e-3", "5%", "NaN", Number.NaN, 2, -1, null, true],
  ],
  [
    read.callback,
    "a callback",
    [
      [" http://A:3000/hook?a ", "http://a:3000/hook?a"],
      ["https://u:p@a/", "https://u:p@a/"],
    ],
    ["ftp://a/", "a", "", 5],
  ],
  [
    read.headerName,
    "the name of a header",
    [
      ["X-Country-2", "x-country-2"],
      ["A".repeat(64), "a".repeat(64)],
    ],
    ["", "A".repeat(65), "a b", "a_b", "a:", 5],
  ],
  [
    read.rtmpUrl,
    "an address of RTMP",
    [
      [" rtmp://a/live// ", "rtmp://a/live"],
      ["rtmps://a:1/b", "rtmps://a:1/b"],
    ],
    ["rtmp:///live", "http://a/live", "rtmp://u@a/", "rtmp://:p@a/", "rtmp://a/?b", "rtmp://a/#b", "live", 5],
  ],
  [
    read.dataPlace,
    "a place of data",
    same(".plaza", ":memory:", "postgres://a/b", "postgresql://a/b", "/a:b", " a"),
    ["", " ", "mysql://a", "HTTP://a", 5],
  ],
  [read.controlKey, "a control key", same("!~aZ09"), ["", "a b", "a\n", "ä", "\x7f", 5]],
];

for (const [reader, name, taken, refused] of cases)
  describe(name, () => {
    test("accepted values", () => {
      expect(taken.map(([given]) => reader(given))).toEqual(taken.map(([, as]) => as));
    });

    test("refused values", () => {
      for (const value of refused) expect(problemOf(reader, value)).not.toBe("");
    });
  });

test("a problem names the value, with text in quotes, and the expected form", () => {
  expect([
    problemOf(read.text, ""),
    problemOf(read.integer(1, 3), "4"),
    problemOf(read.integer(1, 3), 4),
    problemOf(read.portOrOff, "on"),
    problemOf(read.flag, "no"),
    problemOf(read.oneOf(["a", "b"]), ["a"]),
    problemOf(read.cidrs, "a, b"),
    problemOf(read.surfaceHosts, "x=y"),
    problemOf(read.surfaceHosts, "app=y:1"),
    problemOf(read.dataPlace, " "),
    problemOf(read.flag, 'a"b'),
  ]).toEqual([
    '"" is not text',
    '"4" is not an integer from 1 to 3',
    "4 is not an integer from 1 to 3",
    '"on" is not a port from 0 to 65535, or off',
    '"no" is not true or false',
    '["a"] is not one of a, b',
    '"a" is not an address range such as 10.0.0.0/8',
    '"x=y" is not surface=host, with a surface of base, app, microblog, ads, social_login',
    '"y:1" is not a host name',
    '" " is not a folder, :memory: or postgres://…',
    '"a"b" is not true or false',
  ]);
});

test("a control key needs at least 16 characters", () => {
  expect([15, 16].map((length) => read.isStrongControlKey("a".repeat(length)))).toEqual([false, true]);
});

test("a secret key is exactly 32 bytes, in hex or base64; further ones may follow", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => at * 8);
  const [hex, base64] = [Buffer.from(bytes).toString("hex"), Buffer.from(bytes).toString("base64")];
  for (const given of [hex, hex.toUpperCase(), base64, ` ${base64}\n`]) expect(read.secretKey(given)).toEqual(bytes);
  for (const length of [31, 33])
    for (const form of ["hex", "base64"] as const)
      expect(problemOf(read.secretKey, Buffer.alloc(length, 7).toString(form))).toBe("must be 32 bytes in hex or base64");
  // Node skips characters that are not base64.
  for (const wrong of [`${base64.slice(0, 10)} ${base64.slice(10)}`, `${base64}!`, "", 5, null])
    expect(problemOf(read.secretKey, wrong)).toBe("must be 32 bytes in hex or base64");
  expect(read.secretKeys(`${hex},${base64}`)).toEqual([bytes, bytes]);
});

test("editors offer exactly the values that are accepted", () => {
  expect(read.integer(1, 3).schema).toEqual({ type: "integer", minimum: 1, maximum: 3 });
  expect(read.portOrOff.schema).toEqual({ anyOf: [{ type: "integer", minimum: 0, maximum: 65_535 }, { enum: ["off", false] }] });
  expect(read.text.schema).toEqual({ type: "string", minLength: 1 });
  expect(read.surfaceHosts.schema).toMatchObject({ anyOf: [{ type: ["array", "string"] }, { type: "object", additionalProperties: false }] });
});
