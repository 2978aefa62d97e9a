import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { postgresStatement } from "#storage/postgres/migrations";
import { numbered, tokensOf } from "#storage/postgres/values";

describe("statements for PostgreSQL", () => {
  test("tokens together are the whole text, for any text", () => {
    const piece = fc.oneof(
      fc.constantFrom("'", '"', "--", "/*", "*/", "?", "\n", "''", "TEXT", "(", ")", ","),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join("");
        expect(
          tokensOf(text)
            .map((token) => token.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });

  test("values are numbered, question marks elsewhere are unchanged", () => {
    expect(numbered("SELECT ? , '?', \"?\" -- ?\n, ? /* ? */ WHERE a=?AND b IN (?, ?)")).toBe(
      "SELECT $1 , '?', \"?\" -- ?\n, $2 /* ? */ WHERE a=$3AND b IN ($4, $5)",
    );
    expect(numbered("SELECT 'it''s ?' || ?")).toBe("SELECT 'it''s ?' || $1");
  });

  const cases: [title: string, given: string, expected: string][] = [
    [
      "columns of type TEXT",
      "CREATE TABLE a (id BIGINT, name TEXT NOT NULL, body text)",
      'CREATE TABLE a (id BIGINT, name TEXT COLLATE "C" NOT NULL, body text COLLATE "C")',
    ],
    ["no WITHOUT ROWID", "CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY)\n  WITHOUT ROWID\n", "CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY)"],
    [
      "a column that is called text",
      "CREATE TABLE IF NOT EXISTS a (text TEXT, UNIQUE (id, text), PRIMARY KEY (text), CHECK (NOT text IS NULL))",
      'CREATE TABLE IF NOT EXISTS a (text TEXT COLLATE "C", UNIQUE (id, text), PRIMARY KEY (text), CHECK (NOT text IS NULL))',
    ],
    [
      "casts, defaults and comments stay",
      "CREATE TABLE a ( -- TEXT\n a /* TEXT */ TEXT DEFAULT 'x TEXT', n BIGINT CHECK (CAST(n AS TEXT) <> ''), \"b TEXT\" TEXT)",
      'CREATE TABLE a ( -- TEXT\n a /* TEXT */ TEXT COLLATE "C" DEFAULT \'x TEXT\', n BIGINT CHECK (CAST(n AS TEXT) <> \'\'), "b TEXT" TEXT COLLATE "C")',
    ],
    [
      "an added column",
      "ALTER TABLE a ADD COLUMN text TEXT NOT NULL DEFAULT 'TEXT'",
      "ALTER TABLE a ADD COLUMN text TEXT COLLATE \"C\" NOT NULL DEFAULT 'TEXT'",
    ],
    ["an added column, shorter", "alter table a add b text", 'alter table a add b text COLLATE "C"'],
    ["a renamed column", "ALTER TABLE a RENAME COLUMN text TO body", "ALTER TABLE a RENAME COLUMN text TO body"],
    ["an index", "CREATE INDEX a_by_text ON a (text)", "CREATE INDEX a_by_text ON a (text)"],
    [
      "data",
      "INSERT INTO a (text) VALUES ('CREATE TABLE b (c TEXT) WITHOUT ROWID')",
      "INSERT INTO a (text) VALUES ('CREATE TABLE b (c TEXT) WITHOUT ROWID')",
    ],
    ["data of a column called add", "UPDATE a SET add = text", "UPDATE a SET add = text"],
    ["data that looks so", "UPDATE a SET text = CAST(id AS TEXT)", "UPDATE a SET text = CAST(id AS TEXT)"],
  ];
  for (const [title, given, expected] of cases) {
    test(title, () => expect(postgresStatement(given)).toBe(expected));
  }
});
