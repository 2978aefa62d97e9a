/** Moves the clock of a world to the time of the next due work. */
import type { ControlRequests } from "./requests.ts";

/** Returns the time of the clock after the move, and the work that fell due. Returns undefined if the world has no deadline. */
export async function moveToNextDeadline(control: ControlRequests): Promise<Readonly<Record<string, unknown>> | undefined> {
  const [next] = (await control.request("GET", "clock/deadlines")).data as readonly { time: number; kind: string; of: string }[];
  if (next === undefined) return undefined;
  const { now } = await control.request("GET", "clock");
  const clock = await control.request("PUT", "clock", { now: Math.max(now, Math.ceil(next.time)) });
  return { ...clock, due: next };
}
