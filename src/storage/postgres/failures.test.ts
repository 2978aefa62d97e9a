/**
 * Checks how errors of the database are classified: callers see some errors as an unreachable database, and after some errors the body of the write
 * runs again.
 */
import { describe, expect, test } from "bun:test";
import { GraphError } from "#kernel/errors";
import { NotOneRow } from "../database.ts";
import { sql } from "../sql.ts";
import { announcement, failureOf, named, rollback } from "./ends.ts";
import {
  isConnectionFailure,
  isReadOnlyServer,
  isStalePlan,
  isTimeout,
  isTransient,
  isUndefinedTable,
  NoConnection,
  NotPrimary,
  TableLocked,
  translated,
} from "./failures.ts";
import type { PoolConnection } from "./pool.ts";

const withCode = (code: unknown, message = "some words of the server"): Error => Object.assign(new Error(message), { code });
const PLAN = "cached plan must not change result type";
const RECOVERY = "cannot set transaction read-write mode during recovery";

/** Returns the kinds of problems to which an error belongs. */
function kindsOf(error: unknown): string[] {
  const kinds = { isConnectionFailure, isReadOnlyServer, isStalePlan, isTimeout, isTransient, isUndefinedTable };
  const isTranslated = translated(error) !== error;
  return [...Object.entries(kinds).flatMap(([name, is]) => (is(error) ? [name] : [])), ...(isTranslated ? ["translated"] : [])];
}

const LOST = ["isConnectionFailure", "isTransient", "translated"];

describe("errors of PostgreSQL", () => {
  test("a lost or refused connection means an unreachable database, and the body may run again", () => {
    const system = [
      "ECONNREFUSED",
      "ECONNRESET",
      "ECONNABORTED",
      "EPIPE",
      "ETIMEDOUT",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "ENOENT",
      "ENOTFOUND",
      "EAI_AGAIN",
    ];
    const server = ["08000", "08003", "08006", "08P01", "57P01", "57P02", "57P03", "57P05", "53300"];
    for (const code of [...system, ...server]) expect([code, ...kindsOf(withCode(code))]).toEqual([code, ...LOST]);
    const driver = [
      "Connection terminated unexpectedly",
      "timeout expired",
      "Client was closed and is not queryable",
      "Client has encountered a connection error",
      "Socket is closed",
      "This socket has been ended by the other party",
    ];
    for (const message of driver) expect([message, ...kindsOf(new Error(message))]).toEqual([message, ...LOST]);
    expect(kindsOf(new NotPrimary())).toEqual(LOST);
    expect(kindsOf(new Error("Query read timeout"))).toEqual(["isConnectionFailure", "isTimeout", "isTransient", "translated"]);
  });

  test("lack of resources and disk errors mean an unreachable database, and nothing runs again", () => {
    for (const code of ["53100", "53200", "58030", "58P01"]) expect([code, ...kindsOf(withCode(code))]).toEqual([code, "translated"]);
    const cause = withCode("53100");
    expect(translated(cause)).toBeInstanceOf(GraphError);
    expect(translated(cause)).toMatchObject({ cause });
  });

  test("a body that lost against another transaction, or read an old row, runs again", () => {
    for (const code of ["40001", "40P01"]) expect([code, ...kindsOf(withCode(code))]).toEqual([code, "isTransient"]);
    expect(kindsOf(new NotOneRow(0, sql`SELECT 1 AS one`))).toEqual(["isTransient"]);
    expect(kindsOf(withCode("0A000", PLAN))).toEqual(["isStalePlan", "isTransient"]);
  });

  test("a missing table is a separate kind", () => {
    for (const code of ["42P01", "3F000"]) expect([code, ...kindsOf(withCode(code))]).toEqual([code, "isUndefinedTable"]);
  });

  test("D-341: a limit of time, a lock, and a pool without a connection are a database out of reach; nothing runs again", () => {
    for (const error of [withCode("57014"), withCode("55P03"), new NoConnection(8, 5_000), new TableLocked("labels")])
      expect([error.message, ...kindsOf(error)]).toEqual([error.message, "translated"]);
  });

  test("any other error is unchanged", () => {
    const others = ["57P04", "40002", "40000", "23503", "23505", "42601", "25001", "0A000", "09000", "X08006", "080061", "", 8000, undefined];
    for (const code of others) expect([code, ...kindsOf(withCode(code))]).toEqual([code]);
    // Some errors have the same words without the code, or have the words in another part of the message.
    for (const message of [PLAN, RECOVERY, "a Connection terminated", "the timeout expired", ""])
      expect([message, ...kindsOf(new Error(message))]).toEqual([message]);
    for (const thrown of [undefined, "08006", { code: "08006" }, { message: "timeout expired" }]) expect(kindsOf(thrown)).toEqual([]);
  });

  test("a read-only server means an unreachable database, whatever the statement was", () => {
    for (const error of [withCode("25006"), withCode("0A000", RECOVERY)]) {
      expect(kindsOf(error)).toEqual(["isReadOnlyServer"]);
      expect(named(error)).toBeInstanceOf(NotPrimary);
      expect(named(error)).toMatchObject({ cause: error });
    }
    const other = withCode("23505");
    expect(named(other)).toBe(other);
  });

  test("if another attempt may help, the server's error counts, otherwise the one that the body made of it", () => {
    const [lost, taken, own] = [withCode("08006"), withCode("23505"), new Error("own")];
    expect(failureOf({ failure: lost }, own)).toBe(lost);
    expect(failureOf({ failure: taken }, own)).toBe(own);
    expect(failureOf({ failure: undefined }, own)).toBe(own);
    expect(failureOf({ failure: withCode("25006") }, own)).toBeInstanceOf(NotPrimary);
  });

  test("a connection on which even ROLLBACK fails is not used again", async () => {
    const connection = (execute: () => Promise<unknown>) => ({ execute, isBroken: false }) as unknown as PoolConnection;
    const [lost, alive] = [connection(() => Promise.reject(withCode("08006"))), connection(async () => ({ rows: [] }))];
    await rollback(lost);
    await rollback(alive);
    expect([lost.isBroken, alive.isBroken]).toEqual([true, false]);
  });

  test("facts that do not fit into a notification are announced as everything", () => {
    // A notification has fewer than 8,000 bytes, and contains a slot and a number before the facts.
    const announced = (bytes: number) =>
      announcement("plaza_default", [["kinds", "é".repeat((bytes - JSON.stringify([["kinds", ""]]).length) / 2)]]).values.at(-1);
    expect(Buffer.byteLength(String(announced(7_500)))).toBe(7_500);
    expect(announced(7_502)).toBe("null");
    expect(announced(9_000)).toBe("null");
  });
});
