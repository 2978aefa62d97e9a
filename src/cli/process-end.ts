/** How the program ends: asked to by a signal, or because it could not start. */
import type { RunningPlaza } from "#main";
import { errorFields, type Log } from "#telemetry/log";

/** A wrong option, or something outside the program that keeps it from starting as asked: nothing was changed. */
const WRONG_USE = 2;
const FAILED = 1;

/** Errors whose message says to a person what to change. */
const WRONG_USES = ["ConfigProblem", "WorldFileProblem", "FolderInUse", "DataNotEmpty"];
const PLAIN_FAILURES = ["UnknownMigration", "MigrationFailed"];
const WRONG_USE_CODES = ["EADDRINUSE", "EACCES", "EADDRNOTAVAIL", "ENOTDIR", "EROFS"];

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "");

const isWrongUse = (error: unknown): boolean =>
  (error instanceof Error && WRONG_USES.includes(error.name)) || WRONG_USE_CODES.includes(codeOf(error));

export const exitCodeOf = (error: unknown): number => (isWrongUse(error) ? WRONG_USE : FAILED);

/** One line where the message is meant for a person; else the log says where it happened. */
export function explain(error: unknown, log: Log): void {
  if (isWrongUse(error) || (error instanceof Error && PLAIN_FAILURES.includes(error.name))) {
    process.stderr.write(`plaza: ${(error as Error).message}\n`);
  } else log.error(errorFields(error), "could not start");
}

/** Ends the program once the signal came and the running calls have ended. A second signal ends it at once. */
export async function endWhenAsked(asked: Promise<string>, plaza: Pick<RunningPlaza, "stop">, log: Log): Promise<number> {
  const signal = await asked;
  log.info({ signal }, "ending: no new calls, running ones end");
  const stopped = plaza.stop().then(
    () => 0,
    (error: unknown) => {
      log.error(errorFields(error), "could not end cleanly");
      return FAILED;
    },
  );
  const code = await Promise.race([stopped, nextSignal().then(() => 0)]);
  await log.flush();
  return process.exit(code);
}

/** SIGTERM or SIGINT. Listened for before anybody learns that the program runs. */
export const nextSignal = (): Promise<string> =>
  new Promise((resolve) => {
    const listen = (signal: string) => {
      process.removeListener("SIGTERM", listen);
      process.removeListener("SIGINT", listen);
      resolve(signal);
    };
    process.on("SIGTERM", listen);
    process.on("SIGINT", listen);
  });
