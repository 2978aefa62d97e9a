import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { forgetCopies } from "../../api/graph/identities.ts";
import { worldsQuery } from "../../api/queries.ts";
import { act } from "../../parts/notices.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

const FIRST = "default";

/** Everything that was read of a world may be another now. */
function useAct() {
  const client = useQueryClient();
  return (done: string, action: () => Promise<unknown>) =>
    act(done, async () => {
      await action();
      forgetCopies();
      await client.invalidateQueries();
    });
}

export function Worlds() {
  const w = useWorld();
  const change = useAct();
  const worlds = useQuery(worldsQuery).data?.data ?? [];
  const make = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    void change(`The world ${name} is there`, async () => {
      await dataOf(api.POST("/v1/worlds", { body: { name } }));
      form.reset();
    });
  };
  return (
    <div className="scroll">
      <Block isOwn title="Worlds of this server">
        <ul>
          {worlds.map(({ name }) => (
            <li key={name}>
              <Link to="/worlds" search={{ world: name }}>
                {name}
              </Link>
              {name === w && " (the one you look at)"}{" "}
              {name !== FIRST && (
                <Sure
                  text="Delete"
                  sure={`Delete ${name} with all that belongs to it`}
                  onSure={() => void change(`${name} is gone`, () => dataOf(api.DELETE("/v1/worlds/{w}", { params: { path: { w: name } } })))}
                />
              )}
            </li>
          ))}
        </ul>
        <form className="actions" onSubmit={make}>
          <input
            name="name"
            aria-label="Name of a new world"
            placeholder="Name of a new world"
            required
            pattern="[a-z0-9]([a-z0-9_\-]{0,55}[a-z0-9])?"
          />
          <button type="submit">Make an empty world</button>
        </form>
      </Block>
      <Snapshots key={w} />
    </div>
  );
}

function Snapshots() {
  const w = useWorld();
  const change = useAct();
  const path = { w };
  const snapshots = useQuery({
    queryKey: ["snapshots", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/snapshots", { params: { path } })),
  }).data?.data;
  const keep = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    void change("Kept", async () => {
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
              sure={`Bring ${w} back to ${name}`}
              onSure={() =>
                void change(`${w} is again as it was`, () =>
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
        {snapshots?.length === 0 && <li className="quiet">None yet. Keep one before you break something.</li>}
      </ul>
      <form className="actions" onSubmit={keep}>
        <input name="name" aria-label="Name of a snapshot" placeholder="Name of a snapshot" required pattern="[A-Za-z0-9][A-Za-z0-9_\-]{0,63}" />
        <button type="submit">Keep the world as it is</button>
      </form>
      <Sure
        text="Reset"
        sure={`Bring ${w} back to its beginning`}
        onSure={() => void change(`${w} is again as it was made`, () => dataOf(api.POST("/v1/worlds/{w}/reset", { params: { path } })))}
      />
    </Block>
  );
}

interface SureProps {
  readonly text: string;
  readonly sure: string;
  readonly onSure: () => void;
}

/** Asks again before something that nothing undoes. */
function Sure({ text, sure, onSure }: SureProps) {
  const [isAsked, ask] = useState(false);
  if (!isAsked)
    return (
      <button type="button" onClick={() => ask(true)} aria-label={`${text}: ${sure}`}>
        {text}
      </button>
    );
  return (
    <>
      <button
        type="button"
        className="danger"
        onClick={() => {
          ask(false);
          onSure();
        }}
      >
        {sure}
      </button>{" "}
      <button type="button" onClick={() => ask(false)}>
        Keep
      </button>
    </>
  );
}
