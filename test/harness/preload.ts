/** Loaded before any test file (bunfig.toml): the hook that every test has. */
import { afterEach } from "bun:test";
import { runCleanups } from "./cleanup.ts";

afterEach(runCleanups);
