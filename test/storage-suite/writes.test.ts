import { expect, test } from "bun:test";
import { NotOneRow } from "#storage/database";
import { sql } from "#storage/sql";
import { closedAfterwards, describeDrivers, openNew } from "./stores.ts";

const insert = (id: number, list = "a") => sql`INSERT INTO notes (id, list) VALUES (${id}, ${list})`;
const count = sql`SELECT COUNT(*) AS count FROM notes`;

describeDrivers("writes", (driver) => {
  test("a write is read by its own transaction at once, by others after its commit", async () => {
    const database = await openNew(driver);
    const seen = await database.write(async (tx) => {
      expect(await tx.run(insert(1))).toBe(1);
      return { inside: await tx.get(count), outside: await database.reader.get(count) };
    });
    expect(seen).toEqual({ inside: { count: 1 }, outside: { count: 0 } });
    expect(await database.reader.get(count)).toEqual({ count: 1 });
  });

  test("runOne ends the transaction if no row was changed, even if its body swallows the error", async () => {
    const database = await openNew(driver);
    const move = (id: number) => sql`UPDATE notes SET list = ${"b"} WHERE id = ${id}`;
    await database.write((tx) => tx.runOne(insert(1)));
    await database.write((tx) => tx.runOne(move(1)));
    const response = database.write(async (tx) => {
      await tx.runOne(insert(2));
      await tx.runOne(move(3)).catch(() => {});
    });
    expect(await response.catch((error) => error)).toBeInstanceOf(NotOneRow);
    expect(await database.reader.get(count)).toEqual({ count: 1 });
    await database.write((tx) => tx.run(move(3)));
  });

  test("a statement that nobody awaits is stored with all others or undoes them, in any position", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.runOne(insert(1)));
    // The database refuses this insert, because a row with the id exists.
    const taken = insert(1);
    // No row of the table has this id.
    const missed = sql`UPDATE notes SET list = ${"b"} WHERE id = ${99}`;
    for (const wrong of [taken, missed]) {
      const bodies = [[wrong], [wrong, insert(2)], [insert(2), wrong], [insert(2), wrong, insert(3)]];
      for (const statements of bodies)
        for (const isRead of [false, true]) {
          const response = database.write(async (tx) => {
            if (isRead) await tx.get(count);
            for (const statement of statements) await tx.runOne(statement);
          });
          expect(await response.then(() => "stored").catch((error) => error)).toBeInstanceOf(Error);
          expect(await database.reader.get(count)).toEqual({ count: 1 });
        }
    }
    const many = Array.from({ length: 1_000 }, (_, at) => insert(at + 2));
    await database.write(async (tx) => {
      for (const statement of many) await tx.runOne(statement);
      expect(await tx.get(count)).toEqual({ count: 1_001 });
    });
    expect(await database.reader.get(count)).toEqual({ count: 1_001 });
  });

  test("a body that throws leaves nothing, and its error is thrown on", async () => {
    const database = await openNew(driver);
    const mistake = new Error("refused");
    const response = database.write(async (tx) => {
      await tx.run(insert(1));
      throw mistake;
    });
    expect(await response.catch((error) => error)).toBe(mistake);
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("nor does one that has written with a statement that returns rows", async () => {
    const database = await openNew(driver);
    const returning = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"}) RETURNING list`;
    const responses = await Promise.allSettled([
      database.write((tx) => tx.get(returning(1))),
      database.write(async (tx) => {
        await tx.all(returning(2));
        throw new Error("refused");
      }),
      database.write((tx) => tx.run(insert(3))),
    ]);
    expect(responses.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await database.reader.get(count)).toEqual({ count: 2 });
  });

  test("bodies that start together succeed and fail separately", async () => {
    const database = await openNew(driver);
    const responses = await Promise.allSettled(
      Array.from({ length: 60 }, (_, id) =>
        database.write(async (tx) => {
          await tx.run(insert(id));
          if (id % 3 === 0) throw new Error(`refused ${id}`);
          return id;
        }),
      ),
    );
    expect(responses).toHaveLength(60);
    for (const [id, response] of responses.entries()) {
      if (id % 3 === 0) expect(response).toMatchObject({ status: "rejected", reason: { message: `refused ${id}` } });
      else expect(response).toEqual({ status: "fulfilled", value: id });
    }
    const stored = await database.reader.all<{ id: string }>(sql`SELECT CAST(notes.id AS TEXT) AS id FROM notes ORDER BY notes.id`);
    expect(stored.map(({ id }) => Number(id))).toEqual(Array.from({ length: 60 }, (_, id) => id).filter((id) => id % 3 !== 0));
  });

  test("a failed statement ends the write, even if the body swallows its error", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.run(insert(1)));
    const swallowed = database.write(async (tx) => {
      await tx.run(insert(2));
      await tx.run(insert(1)).catch(() => 0);
      return "done";
    });
    await expect(swallowed).rejects.toThrow(/UNIQUE|unique/);
    const usedOn = database.write(async (tx) => {
      await tx.run(insert(1)).catch(() => 0);
      await tx.run(insert(3));
    });
    await expect(usedOn).rejects.toThrow(/UNIQUE|unique/);
    expect(await database.reader.get(count)).toEqual({ count: 1 });
    await database.write((tx) => tx.run(insert(4)));
    expect(await database.reader.get(count)).toEqual({ count: 2 });
  });

  test("statements of one body may be started at once", async () => {
    const database = await openNew(driver);
    const changed = await database.write((tx) => Promise.all([tx.run(insert(1)), tx.run(insert(2)), tx.run(insert(3))]));
    expect(changed).toEqual([1, 1, 1]);
    expect(await database.reader.get(count)).toEqual({ count: 3 });
  });

  test("a write returns the number of changed rows", async () => {
    const database = await openNew(driver);
    await database.write(async (tx) => {
      for (let id = 1; id <= 5; id++) await tx.run(insert(id));
      expect(await tx.run(sql`UPDATE notes SET flag = ${1} WHERE id <= ${3}`)).toBe(3);
      expect(await tx.run(sql`UPDATE notes SET flag = ${1} WHERE id <= ${3}`)).toBe(3);
      expect(await tx.run(sql`UPDATE notes SET flag = ${1} WHERE id > ${100}`)).toBe(0);
      expect(await tx.run(sql`INSERT INTO notes (id, list) VALUES (${1}, ${"b"}) ON CONFLICT (id) DO NOTHING`)).toBe(0);
      expect(await tx.run(sql`INSERT INTO notes (id, list) VALUES (${1}, ${"b"}) ON CONFLICT (id) DO UPDATE SET list = excluded.list`)).toBe(1);
      expect(await tx.run(sql`DELETE FROM notes WHERE list = ${"a"}`)).toBe(4);
      expect(await tx.get(sql`DELETE FROM notes WHERE id = ${1} RETURNING list`)).toEqual({ list: "b" });
      expect(await tx.get(sql`DELETE FROM notes WHERE id = ${1} RETURNING list`)).toBeUndefined();
    });
  });

  test("an ended transaction cannot be used", async () => {
    const database = await openNew(driver);
    let kept: Parameters<Parameters<typeof database.write>[0]>[0] | undefined;
    await database.write(async (tx) => {
      kept = tx;
    });
    await expect(kept?.run(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.runOne(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.all(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.get(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.lock("a", "b")).rejects.toThrow("after its body had ended");
    expect(() => kept?.invalidate("a", "b")).toThrow("after its body had ended");
    expect(() => kept?.afterCommit(() => {})).toThrow("after its body had ended");
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("afterCommit runs when the write can be read, and not after a rollback", async () => {
    const database = await openNew(driver);
    const log: string[] = [];
    await database.write(async (tx) => {
      tx.afterCommit(() => log.push("first"));
      await tx.run(insert(1));
      tx.afterCommit(() => log.push("second"));
      log.push("body");
    });
    log.push("acknowledged");
    await database
      .write(async (tx) => {
        tx.afterCommit(() => log.push("never"));
        throw new Error("refused");
      })
      .catch(() => {});
    expect(log).toEqual(["body", "first", "second", "acknowledged"]);
  });

  test("the reader refuses to write", async () => {
    const database = await openNew(driver);
    await expect(database.reader.all(insert(1))).rejects.toThrow(/read-?only/i);
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("close waits for running writes, then refuses", async () => {
    const store = await driver.newStore();
    const database = await store.open();
    const writes = Array.from({ length: 20 }, (_, id) => database.write((tx) => tx.run(insert(id))));
    await database.close();
    expect(await Promise.all(writes)).toEqual(new Array(20).fill(1));
    await expect(database.write((tx) => tx.run(insert(100)))).rejects.toThrow("closed");
    const again = closedAfterwards(await store.open());
    expect(await again.reader.get(count)).toEqual({ count: 20 });
  });

  test("ping returns", async () => {
    const database = await openNew(driver);
    await database.ping();
    expect(database.processNumber).toBe(0);
    expect(database.dialect).toBe(driver.name);
  });
});
