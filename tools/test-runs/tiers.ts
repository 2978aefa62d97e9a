/** Which files of tests each run has: `npm run test:all` runs all of them, `npm test` those that need no other program. */

const ONLY_IN_ALL = ["test/client-libraries/", "test/console/", "test/faults/patroni/", "test/faults/proxies/", "test/live/", "test/package/"];

/** Whether `npm test` runs this file. */
export const isInEveryRun = (path: string): boolean => !ONLY_IN_ALL.some((folder) => path.startsWith(folder));
