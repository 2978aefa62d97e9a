import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { createNode, deleteNode, type Entry, kindNamedBy, kindsQuery, nodeQuery, textOf, updateNode } from "../../api/graph/nodes.ts";
import { operationsQuery } from "../../api/queries.ts";
import { parseExact } from "../../parts/json.ts";
import { JsonEditor } from "../../parts/lazy.tsx";
import { say } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, Empty, problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

interface NodeDetailProps {
  readonly kind: { readonly name: string; readonly required: readonly string[] };
  /** The id of the node; undefined for a new node. */
  readonly id: string | undefined;
  readonly onOpen: (node: { readonly id: string | undefined }) => void;
}

export function NodeDetail({ kind, id, onOpen }: NodeDetailProps) {
  const w = useWorld();
  const client = useQueryClient();
  const { data: entry, error } = useQuery({ ...nodeQuery(w, kind.name, id ?? ""), enabled: id !== undefined });
  const [text, setText] = useState(() =>
    id === undefined ? JSON.stringify(Object.fromEntries(kind.required.map((key) => [key, ""])), undefined, 2) : "",
  );
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (entry !== undefined) setText(JSON.stringify(entry, undefined, 2));
  }, [entry]);
  if (error !== null) return <Empty title={error.message} />;
  if (id !== undefined && entry === undefined) return null;
  const change = async (done: string, action: () => Promise<string | undefined>): Promise<void> => {
    try {
      const next = await action();
      // The deleted node itself is not read again.
      await client.invalidateQueries({ queryKey: ["nodes", w], predicate: ({ queryKey }) => next !== undefined || queryKey[4] !== id });
      say(done);
      setProblem(undefined);
      onOpen({ id: next });
    } catch (refused) {
      setProblem(problemOf(refused));
    }
  };
  const save = () =>
    change(id === undefined ? "Created" : "Saved", async () => {
      const body = parseExact(text) as Entry;
      const saved = id === undefined || entry === undefined ? await createNode(w, kind.name, body) : await updateNode(w, kind.name, id, entry, body);
      return String(saved.id);
    });
  const remove = () =>
    change("The node is deleted, with everything below it", async () => {
      await deleteNode(w, kind.name, id ?? "");
      return undefined;
    });
  return (
    <>
      <div className="form">
        <JsonEditor label={`The ${kind.name}, as in a world file`} value={text} onChange={setText} />
        {problem !== undefined && (
          <p role="alert" className="bad">
            ✕ {problem}
          </p>
        )}
        <div className="actions">
          <button type="button" className="primary" onClick={() => void save()}>
            {id === undefined ? "Create" : "Save"}
          </button>
          {id !== undefined && <Sure text="Delete" sure="Delete the node and everything below it" onSure={() => void remove()} />}
        </div>
      </div>
      {entry !== undefined && <Neighbours kind={kind.name} entry={entry} />}
    </>
  );
}

interface NeighboursProps {
  readonly kind: string;
  readonly entry: Entry;
}

/** The nodes that a node refers to, and the operations on the node. */
function Neighbours({ kind, entry }: NeighboursProps) {
  const w = useWorld();
  const kinds = (useQuery(kindsQuery).data ?? []).map(({ name }) => name);
  const operations = useQuery(operationsQuery(w)).data?.data ?? [];
  const named = Object.entries(entry).flatMap(([key, value]) => {
    const of = kindNamedBy(key, kinds);
    return of === undefined || (typeof value !== "string" && typeof value !== "number") ? [] : [{ key, of, id: textOf(value) }];
  });
  const edges = operations.filter(({ node_type }) => node_type !== undefined && kindNamedBy(node_type, kinds) === kind);
  return (
    <Block title="Related">
      <ul>
        {named.map(({ key, of, id }) => (
          <li key={key}>
            {key}:{" "}
            <Link to="/graph" search={({ world }) => ({ world, kind: of, id })}>
              {of} {id}
            </Link>
          </li>
        ))}
        {edges.map(({ operation, method, path }) => (
          <li key={operation}>
            <Link to="/explorer" search={({ world }) => ({ world, operation, id: String(entry.id) })}>
              {operation}
            </Link>{" "}
            <span className="mono quiet">
              {method} {path}
            </span>
          </li>
        ))}
      </ul>
    </Block>
  );
}
