/**
 * Makes all files and folders of this program, and of the processes that it starts, private to its user (D-335): files get 0600, folders 0700. The
 * files contain tokens and people's data, and SQLite makes its files with the umask of the process.
 */
const PRIVATE = 0o077;

/** The umask with which the user started the program, for commands that the program runs for the user. */
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
