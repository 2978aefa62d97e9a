import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { sql } from "../sql.ts";
import { Connection } from "./connection.ts";

test("one that was handed over is closed, also for what it has prepared, and its successor goes on", () => {
  const first = Connection.open(join(temporaryFolder(), "notes.sqlite"), { role: "writer", synchronous: "FULL" });
  first.execute("CREATE TABLE notes (text TEXT NOT NULL)");
  const insert = sql`INSERT INTO notes (text) VALUES (${"one"})`;
  const list = sql`SELECT n.text FROM notes n`;
  expect(first.run(insert)).toBe(1);
  expect(first.all(list)).toEqual([{ text: "one" }]);
  const second = first.handOver();
  for (const use of [() => first.run(insert), () => first.all(list), () => first.get(list)]) expect(use).toThrow("closed");
  first.close();
  expect(second.run(insert)).toBe(1);
  expect(second.all(list)).toHaveLength(2);
  second.close();
});
