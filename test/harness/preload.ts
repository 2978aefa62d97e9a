/** Loaded before any test file (bunfig.toml): what every test has. */
import { afterEach } from "bun:test";
import fc from "fast-check";
import { runCleanups } from "./cleanup.ts";
import { tries } from "./proof.ts";

/** A test run draws the same each time, so that what fails is the doing of a change. Proofs draw something else each time. */
const { PLAZA_TEST_SEED: seed = tries(1, Date.now()) } = process.env;
fc.configureGlobal({ seed: Number(seed) });

afterEach(runCleanups);
