/** Notices of the results of actions. A corner of the page shows the notices, and screen readers read the notices aloud. */
import { useSyncExternalStore } from "react";
import { problemOf } from "./texts.tsx";

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

/** The time for which a notice is shown: long enough to read two lines. */
const SHOWN_MS = 6_000;
const NOTICES_MAX = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

const remove = (id: number): void => change(notices.filter((notice) => notice.id !== id));

export function say(text: string, isBad = false): void {
  const id = ++lastId;
  change([...notices.slice(1 - NOTICES_MAX), { id, text, isBad }]);
  setTimeout(() => remove(id), SHOWN_MS);
}

export const sayProblem = (error: unknown): void => say(problemOf(error), true);

/** Runs an action, and shows a notice of its result. */
export async function act(done: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
    say(done);
  } catch (error) {
    sayProblem(error);
  }
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div className="notices" role="status">
      {shown.map(({ id, text, isBad }) => (
        <div className="notice" key={id}>
          <span className={isBad ? "bad" : "good"}>
            {isBad ? "✕" : "✓"} {text}
          </span>
          <button type="button" className="plain" aria-label="Dismiss" onClick={() => remove(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
