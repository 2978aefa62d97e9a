/** Installs every program that a test starts, for what runs more than the tests of one run: proofs and mutants. */
import { installPostgres } from "#test-runs/postgres";
import { install, isProgram, programs } from "#test-runs/programs";

const absent = install(Object.keys(programs).filter(isProgram));
for (const name of absent) console.error(`${programs[name].title} is not here, and what needs it fails: ${programs[name].elsewhere}`);
if (!installPostgres()) process.exit(1);
