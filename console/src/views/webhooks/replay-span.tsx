import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { say, sayProblem } from "../../parts/notices.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";

const spans = [
  ["the last hour", 3_600],
  ["the last day", 86_400],
  ["the last week", 604_800],
  ["the beginning", Number.POSITIVE_INFINITY],
] as const;
const OWN = "own";

/** Sends the webhooks since a world time once more, to one callback or to all. */
export function ReplaySpan({ callback }: { readonly callback?: string | undefined }) {
  const w = useWorld();
  const client = useQueryClient();
  const now = useWorldNow(w)?.now ?? 0;
  const [chosen, choose] = useState("0");
  const replay = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const moment = String(new FormData(event.currentTarget).get("moment") ?? "");
    const [, seconds] = spans[Number(chosen)] ?? spans[0];
    const since = chosen === OWN ? `${moment}Z` : Math.max(0, Math.floor(now - seconds));
    try {
      const body = { since, ...(callback === undefined ? {} : { callback }) };
      const { replayed } = await dataOf(api.POST("/v1/worlds/{w}/deliveries/replay", { params: { path: { w } }, body }));
      say(`${replayed} ${replayed === 1 ? "webhook is" : "webhooks are"} sent again`);
      await client.invalidateQueries();
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <form className="actions" onSubmit={(event) => void replay(event)}>
      <label>
        Webhooks created since{" "}
        <select value={chosen} onChange={({ target }) => choose(target.value)}>
          {spans.map(([name], at) => (
            <option key={name} value={at}>
              {name}
            </option>
          ))}
          <option value={OWN}>a time</option>
        </select>
      </label>
      {chosen === OWN && <input name="moment" type="datetime-local" step={1} required aria-label="World time, UTC" />}
      <button type="submit">Replay</button>
    </form>
  );
}
