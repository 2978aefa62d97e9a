import { useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, dataOf } from "../../api/client.ts";
import { Sure } from "../../parts/sure.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useChange } from "./change.ts";

export function Snapshots() {
  const w = useWorld();
  const change = useChange();
  const path = { w };
  const snapshots = useQuery({
    queryKey: ["snapshots", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/snapshots", { params: { path } })),
  }).data?.data;
  const keep = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    void change("Snapshot created", async () => {
      await dataOf(api.POST("/v1/worlds/{w}/snapshots", { params: { path }, body: { name } }));
      form.reset();
    });
  };
  return (
    <Block isOwn title={`Snapshots of ${w}`}>
      <ul>
        {snapshots?.map(({ name }) => (
          <li key={name}>
            {name}{" "}
            <Sure
              text="Restore"
              sure={`Restore ${w} to ${name}`}
              onSure={() =>
                void change(`World ${w} restored`, () =>
                  dataOf(api.POST("/v1/worlds/{w}/snapshots/{name}/restore", { params: { path: { w, name } } })),
                )
              }
            />{" "}
            <Sure
              text="Delete"
              sure={`Delete the snapshot ${name}`}
              onSure={() => void change("Deleted", () => dataOf(api.DELETE("/v1/worlds/{w}/snapshots/{name}", { params: { path: { w, name } } })))}
            />
          </li>
        ))}
      </ul>
      {snapshots?.length === 0 && <p className="quiet">No snapshot yet. Create one before you break something.</p>}
      <form className="actions" onSubmit={keep}>
        <input name="name" aria-label="Name of a snapshot" placeholder="Name of a snapshot" required pattern="[A-Za-z0-9][A-Za-z0-9_\-]{0,63}" />
        <button type="submit">Create a snapshot</button>
      </form>
      <Sure
        text="Reset"
        sure={`Reset ${w} to its first state`}
        onSure={() => void change(`World ${w} reset`, () => dataOf(api.POST("/v1/worlds/{w}/reset", { params: { path } })))}
      />
    </Block>
  );
}
