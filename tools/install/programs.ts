/**
 * Installs every program that a test starts. Proofs and mutation tests need all these programs, while a run of tests needs
 * only some of them.
 */
import { installPostgres } from "#test-runs/postgres";
import { install, isProgram, programs } from "#test-runs/programs";

const absent = install(Object.keys(programs).filter(isProgram));
for (const name of absent) console.error(`${programs[name].title} is not installed here, and tests that need it fail: ${programs[name].elsewhere}`);
if (!installPostgres()) process.exit(1);
