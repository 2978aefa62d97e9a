/**
 * Places for streams. Over HTTP/1.1 a browser opens six connections to a host for all its windows together; with a seventh nothing comes any
 * more, not even the response to a click. So the streams of all windows of the console share four places, and two connections are left for
 * what people do. A window that is opened or gets the focus takes the places of others.
 */
const NAMES = ["stream 1", "stream 2", "stream 3", "stream 4"];

/** Which one to take next: in turn, so that it is the one that was taken longest ago. */
const TURN = "plaza.stream-turn";

function nextToTake(): string | undefined {
  const turn = Number(localStorage.getItem(TURN) ?? 0);
  const name = [...NAMES.slice(turn), ...NAMES.slice(0, turn)].find((one) => !own.has(one));
  if (name !== undefined) localStorage.setItem(TURN, String((NAMES.indexOf(name) + 1) % NAMES.length));
  return name;
}

/** Those of this window. */
const own = new Set<string>();

interface Wish {
  /** Ends the waiting and the work. */
  readonly signal: AbortSignal;
  /** Whether to take a place from another window if none is free. */
  readonly insists: boolean;
  /** Called if no place is free. */
  waits(): void;
  /** Ends when its signal is aborted: it is no longer needed, or another window has taken its place. */
  work(signal: AbortSignal): Promise<void>;
}

/** Resolves when the work has ended, or its place was taken. */
export async function inPlace({ signal, insists, waits, work }: Wish): Promise<void> {
  // Pages of another machine have no locks over plain http.
  if (!("locks" in navigator)) return work(signal);
  const [waiting, working] = [new AbortController(), new AbortController()];
  signal.addEventListener("abort", () => {
    waiting.abort();
    working.abort();
  });
  let running: Promise<void> | undefined;
  const begin = (name: string): Promise<void> => {
    waiting.abort();
    own.add(name);
    running = work(working.signal).finally(() => own.delete(name));
    return running;
  };
  /** Resolves once it is known whether the work has begun there. */
  const enter = (name: string, options: LockOptions): Promise<boolean> =>
    new Promise((resolve) => {
      let isHere = false;
      const request = navigator.locks.request(name, options, async (lock) => {
        isHere = lock !== null && running === undefined && !signal.aborted;
        resolve(isHere);
        if (isHere) await begin(name);
      });
      // Nobody waits for it any more, or another window took it.
      request.catch(() => (isHere ? working.abort() : resolve(false)));
    });
  const take = async (): Promise<void> => {
    const name = running === undefined ? nextToTake() : undefined;
    if (name === undefined) return;
    // Another stream of this window takes another place.
    own.add(name);
    if (!(await enter(name, { steal: true }))) own.delete(name);
  };
  for (const name of NAMES) if (running === undefined) await enter(name, { ifAvailable: true });
  if (running === undefined) {
    waits();
    addEventListener("focus", take, { signal: waiting.signal });
    if (insists) void take();
    await Promise.all(NAMES.map((name) => enter(name, { signal: waiting.signal })));
  }
  await running;
}
