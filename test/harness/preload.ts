/** Loaded before any test file (bunfig.toml): what every test has. */
import { afterEach } from "bun:test";
import fc from "fast-check";
import { Connection } from "#storage/sqlite/connection";
import { runCleanups } from "./cleanup.ts";
import { tries } from "./proof.ts";

/** A test run draws the same each time, so that what fails is the doing of a change. Proofs draw something else each time. */
const { PLAZA_TEST_SEED: seed = tries(1, Date.now()) } = process.env;
fc.configureGlobal({ seed: Number(seed) });

/** Without ORDER BY, SQLite returns rows in the reverse of its usual order, so that a list that lost its ORDER BY is not in order by luck. */
const open = Connection.open;
Connection.open = (...given) => {
  const connection = open.apply(Connection, given);
  connection.execute("PRAGMA reverse_unordered_selects = ON");
  return connection;
};

afterEach(runCleanups);
