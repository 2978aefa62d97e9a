/** Actions that stop, start or move the world's clock, for the header and the palette. */
import { api, dataOf } from "../api/client.ts";
import { forgetCopies } from "../api/graph/identities.ts";
import { clockQuery, queryClient } from "../api/queries.ts";
import { act } from "../parts/notices.tsx";

type Clock = Awaited<ReturnType<typeof read>>;
const read = (w: string) => dataOf(api.GET("/v1/worlds/{w}/clock", { params: { path: { w } } }));

async function show(w: string, moved: Promise<Clock>): Promise<void> {
  const clock = await moved;
  queryClient.setQueryData(clockQuery(w).queryKey, { ...clock, readAtMs: Date.now() });
  forgetCopies();
  // After the clock was moved, scheduled work may have changed any data, so the console reads everything again.
  await queryClient.invalidateQueries();
}

export const freeze = (w: string, frozen: boolean): Promise<void> =>
  act(frozen ? "The clock is stopped" : "The clock runs", () =>
    show(w, dataOf(api.PUT("/v1/worlds/{w}/clock", { params: { path: { w } }, body: { frozen } }))),
  );

export const advance = (w: string, seconds: number): Promise<void> =>
  act("The clock was moved, and everything that was due has happened", () =>
    show(w, dataOf(api.POST("/v1/worlds/{w}/clock/advance", { params: { path: { w } }, body: { seconds } }))),
  );

export const setClock = (w: string, now: number): Promise<void> =>
  act("The clock was set", () => show(w, dataOf(api.PUT("/v1/worlds/{w}/clock", { params: { path: { w } }, body: { now } }))));

/** Moves the world's clock to the next scheduled work, which then runs. */
export const jumpToNext = (w: string): Promise<void> =>
  act("The next scheduled work has happened", async () => {
    const { now } = await read(w);
    const { data } = await dataOf(api.GET("/v1/worlds/{w}/clock/deadlines", { params: { path: { w } } }));
    const next = data.find(({ time }) => time > now);
    if (next === undefined) throw new Error("Nothing is scheduled in this world");
    await show(w, dataOf(api.PUT("/v1/worlds/{w}/clock", { params: { path: { w } }, body: { now: Math.ceil(next.time) } })));
  });
