/** Bun loads this file before any test file (bunfig.toml); it sets up what every test needs. */
import { afterEach } from "bun:test";
import fc from "fast-check";
import { Connection } from "#storage/sqlite/connection";
import { runCleanups } from "./cleanup.ts";
import { tries } from "./proof.ts";

/** Test runs draw the same random values each time, so that a failure comes from a change of the code. Proofs draw other random values each time. */
const { PLAZA_TEST_SEED: seed = tries(1, Date.now()) } = process.env;
fc.configureGlobal({ seed: Number(seed) });

/** Without ORDER BY, SQLite here returns rows in the reverse of its usual order, so that a query that lost its ORDER BY returns a wrong order. */
const open = Connection.open;
Connection.open = (...given) => {
  const connection = open.apply(Connection, given);
  connection.execute("PRAGMA reverse_unordered_selects = ON");
  return connection;
};

afterEach(runCleanups);
