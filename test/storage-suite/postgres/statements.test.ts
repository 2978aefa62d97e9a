import { afterEach, describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import type { FeatureMigrations } from "#storage/database";
import { postgresStatement } from "#storage/postgres/migrations";
import { openPostgres } from "#storage/postgres/open";
import { ProcessNumber } from "#storage/postgres/process-number";
import { Server } from "#storage/postgres/server";
import { numbered, tokensOf } from "#storage/postgres/values";
import { cleanUp, notes } from "../stores.ts";

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

describe("statements that Citus takes", () => {
  afterEach(cleanUp);

  const later: FeatureMigrations = {
    feature: "later",
    migrations: [
      { name: "words", statements: ["CREATE TABLE words (id BIGINT PRIMARY KEY, word TEXT)", "INSERT INTO words (id, word) VALUES (1, '')"] },
      { name: "filled", statements: [], batch: "UPDATE words SET word = 'filled' WHERE id IN (SELECT w.id FROM words w WHERE w.word = '' LIMIT ?)" },
    ],
  };

  /** Returns the texts of the statements that all sessions send while `work` runs. */
  async function sentDuring(work: () => Promise<void>): Promise<string[]> {
    const query = spyOn(Client.prototype, "query");
    try {
      await work();
      return query.mock.calls.map(([first]) => (typeof first === "string" ? first : ""));
    } finally {
      query.mockRestore();
    }
  }

  test("a schema is changed by one statement in a query, and no UPDATE calls a volatile function", async () => {
    const { url } = await sharedPostgres();
    const schema = `plaza_statements_${process.pid}`;
    const client = await new Server(url, schema).connect();
    afterThisTest(() => client.end());
    const sent = await sentDuring(async () => {
      for (const migrations of [[notes], [notes, later]]) await (await openPostgres({ url, schema, migrations })).close();
      const number = new ProcessNumber();
      for (let time = 0; time < 2; time++) await number.renew(client);
      await number.release(client);
    });
    const changes = sent.filter((text) => /\b(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b/.test(text));
    for (const change of [
      "CREATE SCHEMA",
      "CREATE TABLE words",
      "INSERT INTO words",
      "UPDATE words",
      "INSERT INTO process_numbers",
      "UPDATE process_numbers",
    ])
      expect(changes.some((text) => text.includes(change))).toBe(true);
    expect(changes.filter((text) => tokensOf(text).some(({ kind, text: mark }) => kind === "mark" && mark === ";"))).toEqual([]);
    const { rows } = await client.query<{ name: string }>("SELECT DISTINCT CAST(proname AS TEXT) AS name FROM pg_proc WHERE provolatile = 'v'");
    const volatile = new Set(rows.map(({ name }) => name));
    expect(volatile.has("clock_timestamp")).toBe(true);
    const updates = changes.filter((text) => text.startsWith("UPDATE"));
    expect(updates.filter((text) => tokensOf(text).some(({ text: word }) => volatile.has(word)))).toEqual([]);
  });
});
