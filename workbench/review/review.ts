/**
 * Finds the smallest set of permissions with which a suite passes: the suite runs again without each permission, and further runs prove that the
 * found set is enough and has no superfluous permission.
 */
import { isFailure, type RequestEvent, type Trace } from "../trace/trace.ts";
import { type Permission, permissionText } from "./permissions.ts";
import { runSuite, type Suite, type SuiteRun } from "./suite-run.ts";

/** A permission that the suite needs, with the requests that are refused without it. */
export interface Needed {
  readonly permission: Permission;
  readonly operations: readonly string[];
  readonly tests: readonly string[];
  /** The reason for which the suite fails without the permission. */
  readonly problem: string;
}

export interface Review {
  readonly needed: readonly Needed[];
  /** The permissions that the world grants and the suite does not need. */
  readonly unused: readonly Permission[];
  /** The operations that the suite used, with the number of successful requests. */
  readonly operations: ReadonlyMap<string, number>;
  /** The number of times that the suite ran. */
  readonly runs: number;
}

/** The error if the suite fails with all granted permissions, or with the permissions that seemed to be enough. */
export class ReviewUnusable extends Error {
  override readonly name = "ReviewUnusable";
}

export async function reviewSuite(suite: Suite, note: (text: string) => void): Promise<Review> {
  let runs = 0;
  const run = (removed: readonly Permission[]): Promise<SuiteRun> => {
    runs++;
    return runSuite(suite, removed);
  };
  const whole = await run([]);
  if (whole.problem !== undefined) throw new ReviewUnusable(`the suite fails with all permissions that its worlds grant: ${whole.problem}`);
  const removed: Permission[] = [];
  for (const permission of whole.granted) {
    const { problem } = await run([...removed, permission]);
    if (problem === undefined) removed.push(permission);
    note(`${permissionText(permission)}: ${problem === undefined ? "not needed" : "needed"}`);
  }
  // The next runs prove the set of needed permissions: the suite must pass with the whole set, and fail if any one permission of the set is
  // missing.
  const least = await run(removed);
  if (least.problem !== undefined)
    throw new ReviewUnusable(
      `the suite is not repeatable: it passed without ${removed.map(permissionText).join(", ")}, and now it fails: ${least.problem}`,
    );
  const needed: Needed[] = [];
  for (const permission of whole.granted.filter((one) => !removed.includes(one))) {
    const without = await run([...removed, permission]);
    if (without.problem === undefined)
      throw new ReviewUnusable(`the suite is not repeatable: it failed without ${permissionText(permission)}, and now it passes`);
    needed.push({ permission, problem: without.problem, ...refusedIn(without.trace, least.trace) });
  }
  return { needed, unused: removed, operations: succeededIn(whole.trace), runs };
}

const requestsIn = ({ events }: Trace): readonly RequestEvent[] => events.filter((event) => event.kind === "request");

function succeededIn(trace: Trace): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const event of requestsIn(trace)) if (!isFailure(event)) counts.set(event.request.operation, (counts.get(event.request.operation) ?? 0) + 1);
  return counts;
}

/** Returns the operations and tests whose requests were refused in the run `trace` and not in the run `passed`. */
function refusedIn(trace: Trace, passed: Trace): Pick<Needed, "operations" | "tests"> {
  const usual = succeededIn(passed);
  const tests = new Map(trace.worlds.map(({ name, test }) => [name, test]));
  const refused = requestsIn(trace).filter((event) => isFailure(event) && usual.has(operationOf(event)));
  return {
    operations: [...new Set(refused.map(operationOf))],
    tests: [...new Set(refused.map(({ world }) => tests.get(world) ?? world))],
  };
}

const operationOf = ({ request }: RequestEvent): string => request.operation;
