import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HIDDEN, isSecretName, mentionsOf, redact, redactJson } from "./redaction.ts";

const secretNames = [
  ...["access_token", "oauth_token", "input_token", "appsecret_proof", "verify_token", "hub.verify_token", "client_secret", "app_secret"],
  ...["secret", "token", "stream_key", "stream_url", "secure_stream_url", "password"],
];

/** A secret that differs from every other part of the texts in the tests. */
const secret = fc.stringMatching(/^[A-Za-z0-9]{20}$/).map((text) => `S${text}`);
const anyCase = (name: string) =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) => [...name].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join(""));
const secretName = fc.constantFrom(...secretNames).chain((name) => fc.oneof(fc.constant(name), anyCase(name)));
const text = fc.string({ unit: "binary", maxLength: 20 });
const key = fc.string({ unit: "binary", maxLength: 8 }).filter((name) => !isSecretName(name));

/** Percent-encodes those characters of a value that must be encoded, and the marked characters, because some clients encode any character. */
const percentEncoded = (value: string, isEncoded: readonly boolean[]) =>
  [...value.toWellFormed()].map((c, i) => (isEncoded[i % isEncoded.length] || !/[\w.-]/.test(c) ? percentOf(c) : c)).join("");
const percentOf = (character: string): string => [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const escapedJson = (value: string, isEscaped: readonly boolean[]) =>
  `"${[...value].map((c, i) => (isEscaped[i % isEscaped.length] ? unicodeOf(c) : JSON.stringify(c).slice(1, -1))).join("")}"`;
const unicodeOf = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
const pattern = fc.oneof(fc.constant([false]), fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }));

type Carrier = fc.Arbitrary<string>;
const shuffledPairs = (own: fc.Arbitrary<[string, string]>): Carrier =>
  fc.tuple(fc.array(fc.tuple(key, text), { maxLength: 3 }), own, fc.nat(), pattern).map(([others, pair, at, encoded]) => {
    const pairs = others.toSpliced(at % (others.length + 1), 0, pair);
    return pairs.map(([name, value]) => `${percentEncoded(name, encoded)}=${percentEncoded(value, encoded)}`).join("&");
  });
const shuffledMembers = (own: fc.Arbitrary<[string, string]>): Carrier =>
  fc
    .tuple(fc.array(fc.tuple(key, fc.jsonValue({ stringUnit: "binary" })), { maxLength: 3 }), own, fc.nat(), pattern)
    .map(([others, pair, at, escaped]) => {
      const members = others.map(([name, value]): [string, string] => [name, JSON.stringify(value)]).toSpliced(at % (others.length + 1), 0, pair);
      return `{${members.map(([name, value]) => `${escapedJson(name, escaped)} :\n${value}`).join(", ")}}`;
    });

/** Makes a text that contains the secret under the name of a secret, in a form or in JSON. */
const carrying = (value: string): Carrier => {
  const bracketed = fc
    .tuple(secretName, key, fc.constantFrom("", "[]", "[0]", "[x]", " "), fc.boolean())
    .map(([name, around, after, isInside]) => (isInside ? `${around}[${name}]${after}` : `${name}${after}`));
  const json = fc.constantFrom(`"${value}"`, `["${value}"]`, `{"a":{"b":"${value}"}}`, `[[1,"${value}"],2]`);
  return fc.oneof(shuffledPairs(fc.tuple(bracketed, fc.constant(value))), shuffledMembers(fc.tuple(secretName, json)));
};
/** Makes a text with a secret as the value of a form's field, as a string of JSON, or behind an address. */
const wrapped = (inner: Carrier): Carrier =>
  fc.oneof(
    shuffledPairs(fc.tuple(key, inner)),
    shuffledMembers(
      fc.tuple(
        key,
        fc.tuple(inner, pattern).map(([value, escaped]) => escapedJson(value, escaped)),
      ),
    ),
    inner.map((value) => `[${value.startsWith("{") ? value : JSON.stringify(value)}]`).filter((value) => value.startsWith("[{")),
    inner.filter((value) => !/^[{[]/.test(value)).map((value) => `https://example.com/x?${value}`),
  );
const carrier = secret.chain((value) => {
  const levels = [carrying(value)];
  for (let depth = 0; depth < 3; depth++) levels.push(wrapped(levels.at(-1) as Carrier));
  return fc.tuple(fc.constant(value), fc.oneof(...levels));
});

/** Returns the text in every decoding in which somebody may read it. */
function readings(shown: string): string[] {
  const all = [shown];
  for (let depth = 0; depth < 6; depth++) {
    const last = all.at(-1) as string;
    all.push(
      last
        .replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/%([0-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replaceAll("\\\\", "\\"),
    );
  }
  return all;
}

describe("a secret is removed from text", () => {
  test("in a form or JSON, in any encoding and nesting", () => {
    fc.assert(
      fc.property(carrier, ([value, sent]) => {
        const shown = redact(sent);
        expect(readings(shown).some((reading) => reading.includes(value))).toBe(false);
        expect(readings(shown).join()).toContain(HIDDEN);
      }),
      { numRuns: 500 },
    );
  });

  test("at any cut of the text, with anything beside the name", () => {
    const noise = fc.constantFrom('"', "{", "}", "[", "\\", "'", ",", "\n", "x", "\u0000", "%", "%zz", "=");
    fc.assert(
      fc.property(carrier, fc.nat(), noise, fc.boolean(), ([value, sent], at, more, isCut) => {
        const end = sent.indexOf(value);
        // If the secret itself is encoded, the test searches for the text after the secret instead.
        const place = end === -1 ? sent.length : end + (at % (sent.length - end + 1));
        const broken = isCut ? sent.slice(0, place) : sent.slice(0, place) + more + sent.slice(place);
        const left = readings(redact(broken)).join();
        expect(left.includes(value)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("and everything else stays unchanged", () => {
    const word = fc.string({ unit: "binary", maxLength: 20 });
    const form = fc
      .array(fc.tuple(word, word))
      .map((pairs) => new URLSearchParams(pairs.map(([a, b]): [string, string] => [a.toWellFormed(), b.toWellFormed()])).toString());
    fc.assert(
      fc.property(
        fc.oneof(
          word,
          form,
          fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify(value)),
        ),
        (sent) => {
          fc.pre(!/token|secret|proof|password|stream/i.test(sent));
          expect(redact(sent)).toBe(sent);
          expect(redactJson(sent)).toBe(sent);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ["limit=5&access_token=abc&fields=id", "limit=5&access_token=…&fields=id"],
    ["access%5Ftoken=abc", "access%5Ftoken=…"],
    ["x[access_token][]=abc&y=1", "x[access_token][]=…&y=1"],
    ["x%5Baccess_token%5D=abc", "x%5Baccess_token%5D=…"],
    ['{"page_label_name":"vip","access_token" : "abc", "limit": 5}', '{"page_label_name":"vip","access_token" : "…", "limit": 5}'],
    ['{"access_token":["abc",{"a":"]}"}],"a":1}', '{"access_token":"…","a":1}'],
    [
      '{"paging":{"next":"http://h/v26.0/1/x?limit=5&access_token=abc&after=Zm9v"}}',
      '{"paging":{"next":"http://h/v26.0/1/x?limit=5&access_token=…&after=Zm9v"}}',
    ],
    ['[{"code":200,"body":"{\\"stream_key\\":\\"abc\\",\\"id\\":\\"1\\"}"}]', '[{"code":200,"body":"{\\"stream_key\\":\\"…\\",\\"id\\":\\"1\\"}"}]'],
    ["regenerate_stream_key=true&x=1", "regenerate_stream_key=true&x=1"],
    ['{"regenerate_stream_key":true,"access_token":null}', '{"regenerate_stream_key":true,"access_token":null}'],
    ['{"access_token": "abc', '{"access_token": "…"'],
    ["{'access_token':'abc'}", "{…"],
    ["{access_token:abc}", "{…"],
    ['{"a":1,"access_token" "abc"}', '{"a":1,"access_token" …'],
    ['(#100) Param {"access_token":"abc"} is not known here', '(#100) Param {"access_token":"…"} …'],
    ["An access token is required: access_token is missing", "An access token is required: access_token is missing"],
    ["message=Hi {name}, [VIP] = 100%", "message=Hi {name}, [VIP] = 100%"],
    ["message=Hi {name}&access_token=abc", "message=Hi {name}&access_token=…"],
    ["access_token=&input_token=null&x=1", "access_token=&input_token=null&x=1"],
    ["x=1&stream_key=abc&y=stream", "x=1&stream_key=…&y=stream"],
    ["more=access_token%3Dabc%26a%3Db+c&z=1", "more=access_token%3D…%26a%3Db%20c&z=1"],
    ['x=1&{"access_token":"abc"}=2', "x=1&%7B%22access_token%22%3A%22…%22%7D=…"],
    ["a=%zz%41&access_token=abc", "a=%zz%41&access_token=…"],
    ["access%5Ftoken%3Dabc", "access_token=…"],
    ["a%41b", "a%41b"],
    ['Param "access_token" : abc', 'Param "access_token" :…'],
    ['{"access_token":"","secret":true,"password":0}', '{"access_token":"…","secret":true,"password":"…"}'],
    ['{"next":"http:\\/\\/h\\/?access_token=abc&x=1"}', '{"next":"http://h/?access_token=…&x=1"}'],
    ['{"http://h/?access_token=abc":1,"a":"\\n"}', '{"http://h/?access_token=…":1,"a":"\\n"}'],
    [
      '{"next":"http://h/?access_token=abc","previous":"http://h/?after=x&y","access_token":"def","a":"\\\\"}',
      '{"next":"http://h/?access_token=…","previous":"http://h/?after=x&y","access_token":"…","a":"\\\\"}',
    ],
    ['{"access\\u005ftoken":[1,"]"],"b":"x\\u00', '{"access\\u005ftoken":"…","b":"x\\u00'],
    ['{"a":"secret","b":["token",{"c":"proof"}]}', '{"a":"secret","b":["token",{"c":"proof"}]}'],
    ['{"token":{"a":"}"},"b":-1.5e3}', '{"token":"…","b":-1.5e3}'],
    ['{"secret" : -12 , "b":1}', '{"secret" : "…" , "b":1}'],
    ['{"http://h/?access_token=abc&q=token":"def"}', '{"http://h/?access_token=…&q=token":"…"}'],
    ['{"access_token=abc\\u0026secret":1}', '{"access_token=…&secret":"…"}'],
    ['{"access_token":"a, b] }","x":1}', '{"access_token":"…","x":1}'],
    ['{"a":1},{"token":"abc"}', '{"a":1}…'],
    ['{"a":"access_token=abc\\u00', '{"a":"access_token=…"'],
    ['{"next":"http://h/?access_token=abc&x=\ud800"}', '{"next":"http://h/?access_token=…&x=\ud800"}'],
    ['{"error":"Hi {token}"}', '{"error":"Hi {…"}'],
    ['{"error":"http {token}"}', '{"error":"http {…"}'],
    ['{"error":"[access_token=abc"}', '{"error":"[…"}'],
    ["{name}, [VIP]", "{name}, [VIP]"],
    ["x[access_token][a]=abc", "x[access_token][a]=…"],
    ["access_token]x=abc", "access_token]x=abc"],
    ["access_tok\\u0065n=abc", "access_tok\\u0065n=…"],
    ["more=access_token=abc", "more=access_token=…"],
    ["access_token=abc&name%41=Ada", "access_token=…&name%41=Ada"],
    ["a=1&access_token", "a=1&access_token"],
    ["a=1&{token", "a=1&%7B…"],
    ["a=1&%7B%22access_token%22:%22abc%22%7D", "a=1&%7B%22access_token%22%3A%22…%22%7D"],
  ])("%p becomes %p", (sent, shown) => {
    expect(redact(sent)).toBe(shown);
  });

  test("a name is a secret's even if any one character is percent-encoded, in upper or lower case", () => {
    for (const name of ["token", "secret", "proof", "password", "stream_key", "stream_url"].flatMap((word) => [word, word.toUpperCase()])) {
      for (const [at, character] of [...name].entries()) {
        const hex = character.charCodeAt(0).toString(16);
        for (const encoded of [`%${hex}`, `%${hex.toUpperCase()}`]) {
          const sent = name.slice(0, at) + encoded + name.slice(at + 1);
          expect(redact(`x=1&${sent}=abc`)).toBe(`x=1&${sent}=…`);
        }
      }
    }
  });

  test.each([
    ['Param \\"access_token\\": \\"abc\\"', 'Param \\"access_token\\":…'],
    ["Param `access_token`: abc", "Param `access_token`:…"],
    ["Param 'access_token': abc", "Param 'access_token':…"],
    ["Param [access_token]: abc", "Param [access_token]:…"],
  ])("in text without structure, quoted in any way, %p becomes %p", (sent, shown) => {
    expect(redact(sent)).toBe(shown);
  });

  test("text with endless nesting, or one long beginning of something, takes time in proportion to its length", () => {
    for (const [begin, repeat] of [
      ["access_token=%25", "25"],
      ["[", "["],
      ['{"', "\\"],
      ["a[", "["],
      ['"token', '"'],
      ["", "token"],
      ["", "&token"],
      ["x", "%"],
      ['{"a":"', '\\"token'],
    ] as const) {
      const sent = begin + repeat.repeat(8_192 / repeat.length);
      // Redaction takes linear time: with quadratic time or unlimited nesting, a text of 8 kB would take minutes, or the redaction would never end.
      expect(redact(sent).length).toBeLessThanOrEqual(3 * sent.length);
    }
  });
});

/** Nests a text inside another text of the same form, `levels` times. */
const nested = (text: string, levels: number, into: (text: string) => string): string => (levels === 0 ? text : into(nested(text, levels - 1, into)));
const inForm = (text: string): string => `more=${encodeURIComponent(text)}`;
const inName = (text: string): string => `${encodeURIComponent(text)}=1`;
const inJson = (text: string): string => JSON.stringify({ more: text });

test("forms in forms and JSON in JSON are searched eight times; deeper text is hidden if it may contain a secret", () => {
  const form = "access_token=S3cretS3cret&name=Shown";
  const json = '{"access_token":"S3cretS3cret","name":"Shown"}';
  for (let levels = 0; levels <= 12; levels++) {
    for (const [shown, levelsMax] of [
      [redact(nested(form, levels, inForm)), 8],
      [redact(nested(form, levels, inName)), 8],
      [redact(nested(json, levels, inJson)), 8],
      [redactJson(nested(json, levels, inJson)), 8],
      [redact(nested('Shown "access_token" : S3cret', levels, encodeURIComponent)), 8],
      // The web address is the first level of nesting.
      [redact(JSON.stringify({ next: `http://h/?token=1&${nested(form, levels, inForm)}` })), 7],
    ] as const) {
      expect({ levels, isSecretShown: shown.includes("S3cret"), isNameShown: shown.includes("Shown") }).toEqual({
        levels,
        isSecretShown: false,
        isNameShown: levels <= levelsMax,
      });
    }
    // If a text is nested deeper than the limit, its encoding may hide the name of a secret.
    if (levels <= 9) expect(redact(nested("name=Shown", levels, inForm))).toBe(nested("name=Shown", levels, inForm));
    if (levels <= 8) expect(redact(nested("name=100%25", levels, inForm))).toBe(nested("name=100%25", levels, inForm));
  }
});

const id = fc.string({ unit: "binary", minLength: 1, maxLength: 20 });
const ascii = (text: string): string => text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

test("an id is found in any JSON that contains it, escaped or not", () => {
  fc.assert(
    fc.property(id, fc.jsonValue(), (own, value) => {
      const json = JSON.stringify({ a: [value, { from: own }] });
      expect(mentionsOf([own])(json)).toBe(true);
      expect(mentionsOf(["another", own])(ascii(json))).toBe(true);
    }),
  );
});

test("a number is not found in a longer one, or a word in a longer word", () => {
  const isNamed = mentionsOf(["9001", "ada"]);
  for (const text of ['{"id":"9001"}', '{"id":9001}', "9001", "user:9001,", "https://x/9001?y", "(ada)"]) expect(isNamed(text)).toBe(true);
  for (const text of ['{"id":"19001"}', '{"id":90011}', "a9001", "", "canada", "ada1", "Ada"]) expect(isNamed(text)).toBe(false);
});

test("a word ends before anything that is neither a letter nor a digit", () => {
  const isNamed = mentionsOf(["7"]);
  for (const unit of "09AZaz") expect({ unit, isNamed: [isNamed(`${unit}7`), isNamed(`7${unit}`)] }).toEqual({ unit, isNamed: [false, false] });
  // The characters that are next to digits and letters in ASCII do not belong to words.
  for (const unit of "/:@[`{") expect({ unit, isNamed: [isNamed(`${unit}7`), isNamed(`7${unit}`)] }).toEqual({ unit, isNamed: [true, true] });
  // The id may occur as a separate word behind a longer word that contains the id.
  expect([isNamed("77 7"), isNamed("777")]).toEqual([true, false]);
});

test("an id of other characters is found as a whole, even if JSON escapes it within a longer text", () => {
  const isNamed = mentionsOf(["-7-"]);
  expect(["-7-", "(-7-)", "-7", "7-", "7", "a 7 b"].map(isNamed)).toEqual([true, true, false, false, false, false]);
  for (const text of [{ x: 'by é" now' }].map((value) => JSON.stringify(value)))
    expect([mentionsOf(['é"'])(text), mentionsOf(['é"'])(ascii(text)), mentionsOf(['è"'])(text), mentionsOf(['è"'])(ascii(text))]).toEqual([
      ...[true, true, false, false],
    ]);
});
