/**
 * Places for streams. Over HTTP/1.1 a browser opens at most six connections to a host for all its windows together. If streams use all six
 * connections to a host, no other request gets a response, not even the request of a click. Therefore the streams of all windows of the
 * console share four connections, and two connections are left for people's actions. A window that is opened or gets the focus takes
 * connections from other windows.
 */
const NAMES = ["stream 1", "stream 2", "stream 3", "stream 4"];

/**
 * The key in localStorage for the next connection to take from another window. Connections are taken from other windows in turn, so this
 * connection was taken longest ago.
 */
const TURN = "plaza.stream-turn";

function nextToTake(): string | undefined {
  const turn = Number(localStorage.getItem(TURN) ?? 0);
  const name = [...NAMES.slice(turn), ...NAMES.slice(0, turn)].find((one) => !own.has(one));
  if (name !== undefined) localStorage.setItem(TURN, String((NAMES.indexOf(name) + 1) % NAMES.length));
  return name;
}

/** The connections that this window's streams use. */
const own = new Set<string>();

interface Wish {
  /** Ends the wait for a connection, and the work. */
  readonly signal: AbortSignal;
  /** Whether to take a connection from another window if no connection is free. */
  readonly insists: boolean;
  /** Called if no connection is free. */
  waits(): void;
  /** The work must end when its signal is aborted: the work is no longer needed, or another window has taken its connection. */
  work(signal: AbortSignal): Promise<void>;
}

/** Does work that uses one of the connections for streams. Resolves when the work has ended, or when another window has taken the connection. */
export async function inPlace({ signal, insists, waits, work }: Wish): Promise<void> {
  // The browser has no locks for a page that another machine serves over plain http.
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
  /** Resolves with whether the work has begun on this connection. */
  const enter = (name: string, options: LockOptions): Promise<boolean> =>
    new Promise((resolve) => {
      let isHere = false;
      const request = navigator.locks.request(name, options, async (lock) => {
        isHere = lock !== null && running === undefined && !signal.aborted;
        resolve(isHere);
        if (isHere) await begin(name);
      });
      // The request for the lock failed: the wait was aborted, or another window took the connection.
      request.catch(() => (isHere ? working.abort() : resolve(false)));
    });
  const take = async (): Promise<void> => {
    const name = running === undefined ? nextToTake() : undefined;
    if (name === undefined) return;
    // The connection is marked at once, so that another stream of this window takes another connection.
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
