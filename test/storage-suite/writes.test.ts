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

  test("runOne ends the transaction where no row was changed, even if its body swallows the error", async () => {
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
    await database.write((tx) => tx.runAny(move(3)));
  });

  test("a statement that nobody waits for is stored with all others or undoes them, wherever it stands", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.runOne(insert(1)));
    // Refused: the id is taken.
    const taken = insert(1);
    // No row has this id.
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

  test("insertNew says whether the key was free, also where the body relied on it", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.runOne(insert(1)));
    const add = (id: number) =>
      database.write(async (tx) => {
        for (let free = id; ; free++) {
          if (!(await tx.insertNew(insert(free, "new")))) continue;
          await tx.runOne(insert(free + 100));
          return free;
        }
      });
    expect(await add(5)).toBe(5);
    expect(await add(1)).toBe(2);
    expect(await add(1)).toBe(3);
    expect(await database.reader.get(sql`SELECT COUNT(*) AS count, MAX(n.id) AS last FROM notes n`)).toEqual({ count: 7, last: 105 });
  });

  test("changesOne and usual say what is so, also where the body relied on what it was before, and beside others", async () => {
    const database = await openNew(driver);
    const inList = (list: string) => sql`SELECT n.id FROM notes n WHERE n.list = ${list}`;
    /** Refused where its list is marked, or where there is no such note. */
    const touch = (id: number, list: string) =>
      database.write(async (tx) => {
        await tx.lock("notes", "a");
        const [isThere, marks] = await Promise.all([
          tx.changesOne(sql`UPDATE notes SET amount = amount + 1 WHERE id = ${id}`),
          tx.usual.all<{ id: number }>(inList(`${list} mark`)),
        ]);
        if (marks.length > 0) throw new Error(`marked by ${marks[0]?.id}`);
        const mark = await tx.usual.get<{ id: number }>(inList(`${list} marks`));
        return `${isThere} ${mark?.id}`;
      });
    const outcomes = async () =>
      (await Promise.allSettled([touch(1, "a"), touch(9, "a"), touch(2, "b"), touch(1, "c")])).map((each) =>
        each.status === "fulfilled" ? each.value : (each.reason as Error).message,
      );
    const amounts = () => database.reader.all(sql`SELECT n.id, n.amount FROM notes n WHERE n.amount > 0 ORDER BY n.id`);
    await database.write(async (tx) => {
      for (const id of [1, 2]) await tx.runOne(sql`INSERT INTO notes (id, list, amount) VALUES (${id}, ${"a"}, 0)`);
    });
    const all = ["true undefined", "false undefined", "true undefined", "true undefined"];
    for (let round = 1; round <= 3; round++) {
      expect(await outcomes()).toEqual(all);
      expect(await amounts()).toEqual([
        { id: 1, amount: 2 * round },
        { id: 2, amount: round },
      ]);
    }
    await database.write((tx) => tx.runOne(insert(11, "b mark")));
    await database.write((tx) => tx.runOne(insert(12, "c marks")));
    for (let round = 1; round <= 3; round++) {
      expect(await outcomes()).toEqual([...all.slice(0, 2), "marked by 11", "true 12"]);
      expect(await amounts()).toEqual([
        { id: 1, amount: 6 + 2 * round },
        { id: 2, amount: 3 },
      ]);
    }
  });

  test("a body that refuses at once because of what nearly always is so refuses only where it is so", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.runOne(insert(1)));
    for (const isLocked of [false, true]) {
      const isMissing = (id: number) =>
        database.write(async (tx) => {
          if (isLocked) await tx.lock("notes", "a");
          if (await tx.changesOne(sql`UPDATE notes SET amount = 1 WHERE id = ${id}`)) throw new Error(`${id} is there`);
          return `${id} is missing`;
        });
      const outcomes = await Promise.allSettled([isMissing(1), isMissing(2), isMissing(1)]);
      expect(outcomes.map((each) => (each.status === "fulfilled" ? each.value : (each.reason as Error).message))).toEqual([
        "1 is there",
        "2 is missing",
        "1 is there",
      ]);
    }
    expect(await database.reader.get(sql`SELECT n.id FROM notes n WHERE n.amount = 1`)).toBeUndefined();
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

  test("nor does one that has written with a statement that hands out rows", async () => {
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

  test("bodies started together succeed and fail each for itself", async () => {
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

  test("a failed statement ends the write, even when the body swallows its error", async () => {
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

  test("a transaction that ended cannot be used", async () => {
    const database = await openNew(driver);
    let kept: Parameters<Parameters<typeof database.write>[0]>[0] | undefined;
    await database.write(async (tx) => {
      kept = tx;
    });
    await expect(kept?.run(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.runOne(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.runAny(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.insertNew(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.changesOne(insert(1))).rejects.toThrow("after its body had ended");
    await expect(kept?.usual.all(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.usual.get(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.all(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.get(count)).rejects.toThrow("after its body had ended");
    await expect(kept?.lock("a", "b")).rejects.toThrow("after its body had ended");
    expect(() => kept?.invalidate("a", "b")).toThrow("after its body had ended");
    expect(() => kept?.afterCommit(() => {})).toThrow("after its body had ended");
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("afterCommit runs when the write can be read, and not when it was rolled back", async () => {
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
