import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { api, dataOf } from "../../api/client.ts";
import { worldsQuery } from "../../api/queries.ts";
import { Sure } from "../../parts/sure.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useChange } from "./change.ts";
import { People } from "./people.tsx";
import { Snapshots } from "./snapshots.tsx";
import { textOfFile, WorldFile } from "./world-file.tsx";

const FIRST = "default";

export function Worlds() {
  const w = useWorld();
  const change = useChange();
  const worlds = useQuery(worldsQuery).data?.data ?? [];
  const make = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const name = String(given.get("name")).trim();
    void change(`World ${name} created`, async () => {
      const file = await textOfFile(given.get("file"));
      await dataOf(api.POST("/v1/worlds", { body: { name, ...(file === "" ? {} : { file }) } }));
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
              {name === w && " (selected)"}{" "}
              {name !== FIRST && (
                <Sure
                  text="Delete"
                  sure={`Delete ${name} with everything in it`}
                  onSure={() => void change(`World ${name} deleted`, () => dataOf(api.DELETE("/v1/worlds/{w}", { params: { path: { w: name } } })))}
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
          <label>
            from a world file, or empty <input name="file" type="file" accept=".yaml,.yml,.json" />
          </label>
          <button type="submit">Create a world</button>
        </form>
      </Block>
      <Snapshots key={w} />
      <WorldFile key={`file ${w}`} />
      <People key={`people ${w}`} />
    </div>
  );
}
