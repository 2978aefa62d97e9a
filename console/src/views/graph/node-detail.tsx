import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { exampleOf, keysOf, referredKind, wordsOf } from "../../api/graph/example.ts";
import { type Entry, type Kind, kindNamedBy } from "../../api/graph/kinds.ts";
import { createNode, deleteNode, kindsQuery, nodeQuery, nodesQuery, textOf, updateNode } from "../../api/graph/nodes.ts";
import { operationsQuery } from "../../api/queries.ts";
import { parseExact } from "../../parts/json.ts";
import { JsonEditor } from "../../parts/lazy.tsx";
import { Named } from "../../parts/named.tsx";
import { say } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, Nothing, problemOf, Skeleton } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

interface NodeDetailProps {
  readonly kind: Kind;
  /** The id of the node; undefined for a new node. */
  readonly id: string | undefined;
  readonly onOpen: (node: { readonly id: string | undefined }) => void;
}

export function NodeDetail({ kind, id, onOpen }: NodeDetailProps) {
  const w = useWorld();
  const client = useQueryClient();
  const { data: entry, error } = useQuery({ ...nodeQuery(w, kind.name, id ?? ""), enabled: id !== undefined });
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (entry !== undefined) setText(JSON.stringify(entry, undefined, 2));
  }, [entry]);
  if (error !== null)
    return (
      <Nothing title={`There is no node ${id} in ${kind.name}`}>
        <p>It was deleted, it is of another kind, or its id is misspelt.</p>
      </Nothing>
    );
  if (id !== undefined && entry === undefined) return <Skeleton lines={6} />;
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
      {id === undefined && <Example kind={kind} onMade={setText} />}
      {entry !== undefined && <Neighbours kind={kind.name} entry={entry} />}
    </>
  );
}

/** The keys of a new node with their meanings, and an example of it with ids of nodes that exist. */
function Example({ kind, onMade }: { readonly kind: Kind; readonly onMade: (text: string) => void }) {
  const w = useWorld();
  const kinds = useQuery(kindsQuery).data?.map(({ name }) => name);
  const { properties = {}, required = [] } = kind.create;
  const fields = keysOf(kind.create).map((key) => {
    const schema = properties[key] ?? {};
    return { key, schema, referred: kinds === undefined ? undefined : referredKind(kind.name, key, schema, kinds) };
  });
  const needed = fields.flatMap(({ key, referred }) => (referred !== undefined && required.includes(key) ? [referred] : []));
  const lists = useQueries({ queries: needed.map((name) => nodesQuery(w, name)) });
  const isKnown = kinds !== undefined && lists.every(({ data }) => data !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: made once, when all is known, since it would replace what a person writes.
  useEffect(() => {
    if (!isKnown) return;
    const ids = Object.fromEntries(needed.flatMap((name, at) => lists[at]?.data?.data.slice(0, 1).map(({ id }) => [name, String(id)]) ?? []));
    onMade(JSON.stringify(exampleOf(kind.name, kind.create, kinds, ids), undefined, 2));
  }, [isKnown]);
  return (
    <Block title="Keys">
      <table className="plain-table">
        <tbody>
          {fields.map(({ key, schema, referred }) => (
            <tr key={key}>
              <td>
                <code>{key}</code>
              </td>
              <td>
                {required.includes(key) && <strong>required · </strong>}
                {wordsOf(schema, referred)}
                {schema.default !== undefined && <span className="quiet"> · unless given: {JSON.stringify(schema.default)}</span>}
                {schema.description !== undefined && <div className="quiet">{schema.description}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Block>
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
            {key}: <Named kind={of} id={id} />
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
