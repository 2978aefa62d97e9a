/** Ends the program after a signal, or with an error message if a command fails. */
import type { RunningPlaza } from "#main";
import { errorFields, Log } from "#telemetry/log";
import { FAILED, fail, WRONG_USE } from "./terminal/output.ts";

/** The errors whose messages tell the user what to change. */
const WRONG_USES = [
  "ConfigProblem",
  "WrongParameter",
  "WorldFileProblem",
  "FolderInUse",
  "DataNotEmpty",
  "UnknownMigration",
  "OlderProcessRuns",
  "WrongAddress",
  "UnknownDatabase",
  "DamagedFile",
];
const PLAIN_FAILURES = ["MigrationFailed", "ControlRefusal"];

/**
 * Error codes of the system, SQLite and PostgreSQL for problems that the operator has to solve: a missing right, a full disk, or data of another
 * program. `3D000` means that the database does not exist, class 28 that access was denied, and `42501` that a right is missing. The text for
 * the error's code is added to the error's message if the message does not contain this text.
 */
const WRONG_USE_CODES: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ENOSPC: "no space left on device",
  EDQUOT: "the disk quota is used up",
  ENOTFOUND: "there is no such address",
  ENOENT: "",
  ENOTDIR: "",
  EEXIST: "",
  EROFS: "",
  SQLITE_NOTADB: "",
  SQLITE_CORRUPT: "restore the file from a backup",
  SQLITE_CANTOPEN: "",
  SQLITE_READONLY: "",
  SQLITE_READONLY_DIRECTORY: "",
  SQLITE_FULL: "the disk is full",
  "3D000": "",
  "28000": "",
  "28P01": "",
  "42501": "",
  "3F000": "the database user needs the rights USAGE and CREATE on the schema",
};

/** Returns the code of an error or of its cause: the error of a failed migration has the database's error as its cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause);
}

const isUnreached = (error: unknown): boolean => error instanceof Error && "errorName" in error && error.errorName === "databaseUnreachable";

const isWrongUse = (error: unknown): boolean =>
  (error instanceof Error && WRONG_USES.includes(error.name)) || codeOf(error) in WRONG_USE_CODES || isUnreached(error);

function messageOf(error: Error): string {
  if (isUnreached(error)) return `--data: the database cannot be reached: ${error.cause instanceof Error ? error.cause.message : error.message}`;
  if ("syscall" in error && error.syscall === "mkdir" && "path" in error)
    return `--data: the folder ${error.path} cannot be made (${codeOf(error)}): choose another folder, or :memory:`;
  if (error.name === "WrongParameter") return `--${error.message}`;
  const reason = WRONG_USE_CODES[codeOf(error)] ?? "";
  return reason === "" || error.message.includes(reason) ? error.message : `${error.message}: ${reason}`;
}

/**
 * Reports the error of a command, and resolves with the exit code. If the error's message is meant for the user, it is printed as one line; otherwise
 * the error is logged with its stack. The exit code is `WRONG_USE` also if a problem outside the program, such as a full disk, prevents the command.
 */
export async function report(error: unknown, log = new Log({ level: "error", isPretty: true })): Promise<number> {
  if (error instanceof Error && (isWrongUse(error) || PLAIN_FAILURES.includes(error.name))) fail(messageOf(error));
  else log.error(errorFields(error), "the command failed unexpectedly");
  await log.flush();
  return isWrongUse(error) ? WRONG_USE : FAILED;
}

/** Runs a command and resolves with its exit code. An error of the command is reported. */
export async function exitCodeOf(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    return report(error);
  }
}

/** Ends the program after a signal, when the running requests have ended. A second signal ends the program at once. */
export async function endWhenAsked(asked: Promise<string>, plaza: Pick<RunningPlaza, "stop">, log: Log): Promise<number> {
  const signal = await asked;
  log.info({ signal }, "ending: running requests finish");
  const stopped = plaza.stop().then(
    () => 0,
    (error: unknown) => {
      log.error(errorFields(error), "the server did not end cleanly");
      return FAILED;
    },
  );
  const code = await Promise.race([stopped, nextSignal().then(() => 0)]);
  await log.flush();
  return process.exit(code);
}

/** Resolves at the next SIGTERM or SIGINT. The program waits for signals before it reports that it is ready, so that no signal is missed. */
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

/**
 * Resolves when the reader of the program's output closes the pipe, as `head -1` does. When the output is closed, the program's further
 * output is dropped without an error.
 */
export const outputClosed = (): Promise<void> =>
  new Promise((resolve) => {
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: Error & { code?: string }) => {
        if (error.code !== "EPIPE") throw error;
        resolve();
      });
    }
  });
