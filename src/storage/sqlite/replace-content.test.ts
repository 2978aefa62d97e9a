import { expect, test } from "bun:test";
import { replaceContent } from "./replace-content.ts";

test("the error is named, whether SQLite has undone the transaction by itself, as on a full disk, or not", () => {
  for (const isUndone of [false, true]) {
    const executed: string[] = [];
    let inTransaction = false;
    const runner = {
      get inTransaction() {
        return inTransaction;
      },
      all: () => [],
      run: () => 0,
      execute(text: string) {
        executed.push(text);
        if (text === "ROLLBACK" && !inTransaction) throw new Error("cannot rollback - no transaction is active");
        inTransaction = text.startsWith("BEGIN") || (text === "COMMIT" && !isUndone);
        if (text === "COMMIT") throw new Error("database or disk is full");
      },
    };
    expect(() => replaceContent(runner, ["nodes"], undefined)).toThrow("database or disk is full");
    expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT", ...(isUndone ? [] : ["ROLLBACK"])]);
    expect(inTransaction).toBe(false);
  }
});
