/** A field for the id of a node. Nodes are chosen by their names; if there are too many for a list, the id is typed. */
import { useQuery } from "@tanstack/react-query";
import { nodesQuery } from "../api/graph/nodes.ts";
import { useWorld } from "../shell/world.ts";
import { nameOf } from "./named.tsx";

interface NodePickerProps {
  readonly name: string;
  readonly label: string;
  readonly kind: string;
}

export function NodePicker({ name, label, kind }: NodePickerProps) {
  const { data } = useQuery(nodesQuery(useWorld(), kind));
  const options = (data?.data ?? []).map((entry) => (
    <option key={String(entry.id)} value={String(entry.id)}>
      {nameOf(entry) || kind.replaceAll("_", " ")} · {String(entry.id)}
    </option>
  ));
  return (
    <label className="field">
      {label}
      {data?.paging.next === undefined ? (
        <select name={name} required>
          {data?.data.length === 0 && <option value="">none yet: create one in the graph</option>}
          {options}
        </select>
      ) : (
        <>
          <input name={name} list={`ids-${name}`} required pattern="[0-9]+" autoComplete="off" />
          <datalist id={`ids-${name}`}>{options}</datalist>
        </>
      )}
    </label>
  );
}
