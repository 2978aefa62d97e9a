import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { worldsQuery } from "../api/queries.ts";
import { Icon } from "../parts/icon.tsx";
import { useWorld } from "./world.ts";

export function WorldSwitcher() {
  const world = useWorld();
  const navigate = useNavigate();
  const { data } = useQuery(worldsQuery);
  const names = new Set([world, ...(data?.data ?? []).map(({ name }) => name)]);
  return (
    <label className="world">
      <Icon name="globe" />
      <span className="hidden">World</span>
      <select value={world} onChange={(event) => void navigate({ to: ".", search: { world: event.target.value } })}>
        {[...names].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
