import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { act } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** A form that erases everything about a person, and shows the report of the erasure. */
export function People() {
  const w = useWorld();
  const client = useQueryClient();
  const [id, setId] = useState("");
  const key = ["erasures", w];
  const erasures = useQuery({
    queryKey: key,
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/erasures", { params: { path: { w }, query: {} } })),
  }).data?.data;
  const erase = () =>
    act("The erasure runs in the background", async () => {
      await dataOf(api.DELETE("/v1/worlds/{w}/people/{id}", { params: { path: { w, id: id.trim() } } }));
      setId("");
      await client.invalidateQueries();
    });
  return (
    <Block isOwn title="Erase a person">
      <p className="quiet">Enter any id of the person: a user, an account, a PSID, a device, a telephone number. Erase each id.</p>
      <div className="actions">
        <input aria-label="Id of a person" placeholder="Id of a person" value={id} onChange={({ target }) => setId(target.value)} />
        {id.trim().length > 3 && <Sure text="Erase" sure={`Erase all data about ${id.trim()}`} onSure={() => void erase()} />}
      </div>
      {erasures !== undefined && erasures.length > 0 && (
        <ul>
          {erasures.map((one) => (
            <Erasure key={one.id} id={one.id} isRunning={one.status === "running"} />
          ))}
        </ul>
      )}
    </Block>
  );
}

/** The interval at which the console reads the state of a running erasure, because erasures have no stream. */
const LOOK_MS = 1_000;

function Erasure({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }) {
  const w = useWorld();
  const { data } = useQuery({
    queryKey: ["erasures", w, id],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/erasures/{id}", { params: { path: { w, id } } })),
    refetchInterval: ({ state }) => (isRunning && state.data?.status !== "done" ? LOOK_MS : false),
  });
  if (data === undefined) return null;
  const counts = Object.entries(data.erased).map(([what, count]) => `${count} ${what}`);
  return (
    <li>
      <WorldTime seconds={data.started_at} isLong /> {data.status === "done" ? <span className="good">✓ done</span> : <span>… running</span>}
      {counts.length > 0 && `: ${counts.join(", ")}`}
    </li>
  );
}
