/**
 * Makes all files of this program and of its child processes readable only by its user (D-335): files get the mode 0600, folders 0700. The
 * files of this program contain tokens and people's data. A umask is used, because SQLite makes its files with the umask of the process.
 */
const PRIVATE = 0o077;

/** The umask with which the user started the program. When the program starts a command of the user, the command gets the user's own umask. */
const umaskOfUser = process.umask(PRIVATE);

/** Calls `start`, which starts a command of the user, with the user's own umask. */
export function withUmaskOfUser<T>(start: () => T): T {
  process.umask(umaskOfUser);
  try {
    return start();
  } finally {
    process.umask(PRIVATE);
  }
}
