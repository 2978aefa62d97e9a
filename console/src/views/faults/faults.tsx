import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { act } from "../../parts/notices.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { effectOf, limitOf, targetOf } from "./fault-words.ts";
import { NewFault } from "./new-fault.tsx";

export function Faults() {
  const w = useWorld();
  const client = useQueryClient();
  // The counters of faults change with every request, so a cached list is always out of date.
  const { data } = useQuery({
    queryKey: ["faults", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/faults", { params: { path: { w } } })),
    staleTime: 0,
  });
  const clear = () =>
    act("All faults are deleted", async () => {
      await dataOf(api.DELETE("/v1/worlds/{w}/faults", { params: { path: { w } } }));
      await client.invalidateQueries({ queryKey: ["faults", w] });
    });
  const faults = data?.data ?? [];
  return (
    <div className="scroll">
      <Block isOwn title="Create a fault">
        <NewFault />
      </Block>
      <Block isOwn title="In effect">
        {faults.length === 0 ? (
          <p className="quiet">No fault is in effect.</p>
        ) : (
          <>
            <table className="plain-table">
              <thead>
                <tr>
                  <th scope="col">Fault</th>
                  <th scope="col">Applies to</th>
                  <th scope="col">Effect</th>
                  <th scope="col">How often</th>
                  <th scope="col">Affected</th>
                </tr>
              </thead>
              <tbody>
                {faults.map(({ id, met, ...fault }) => (
                  <tr key={id}>
                    <td>{id}</td>
                    <td>{targetOf(fault)}</td>
                    <td>{effectOf(fault)}</td>
                    <td>{limitOf(fault)}</td>
                    <td>{met}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <button type="button" className="danger" onClick={() => void clear()}>
              Delete all
            </button>
          </>
        )}
      </Block>
    </div>
  );
}
