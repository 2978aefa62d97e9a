import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { listNodes, textOf } from "../../api/graph/nodes.ts";
import { operationsQuery } from "../../api/queries.ts";
import { Block, Code, CopyButton, problemOf } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";

/** The kind of node that each kind of token acts for, and the section of a world file that has such nodes. */
const PRINCIPALS = {
  page: ["page", "pages"],
  user: ["user", "users"],
  system_user: ["user", "users"],
  social_user: ["social_account", "social_accounts"],
  microblog_user: ["microblog_user", "microblog_users"],
  app: undefined,
} as const;
type Kind = keyof typeof PRINCIPALS;

const lives = [
  ["no limit", 0],
  ["an hour", 3_600],
  ["a day", 86_400],
  ["60 days", 5_184_000],
] as const;

export function MintToken() {
  const w = useWorld();
  const client = useQueryClient();
  const now = useWorldNow(w)?.now ?? 0;
  const [kind, setKind] = useState<Kind>("page");
  const [made, setMade] = useState<{ readonly id: string; readonly value: string }>();
  const [problem, setProblem] = useState<string>();
  const principal = PRINCIPALS[kind];
  const mint = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => String(given.get(name) ?? "").trim();
    const seconds = Number(text("lives"));
    try {
      const body = {
        type: kind,
        app: text("app"),
        scopes: given.getAll("scopes").map(String),
        ...(principal === undefined ? {} : { [principal[0]]: text("principal") }),
        ...(seconds === 0 ? {} : { expires_at: Math.floor(now) + seconds }),
      };
      const { id, token } = await dataOf(api.POST("/v1/worlds/{w}/tokens", { params: { path: { w } }, body }));
      if (token !== undefined) setMade({ id, value: token });
      setProblem(undefined);
      await client.invalidateQueries({ queryKey: ["tokens", w] });
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <>
      <form className="form" onSubmit={(event) => void mint(event)}>
        <label className="field">
          Type
          <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            {Object.keys(PRINCIPALS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <NodeField name="app" label="Id of the app" section="apps" />
        {principal !== undefined && (
          <NodeField key={principal[1]} name="principal" label={`Id of the ${principal[0].replace("_", " ")}`} section={principal[1]} />
        )}
        <label className="field">
          Valid for
          <select name="lives">
            {lives.map(([name, seconds]) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <Scopes />
        {problem !== undefined && (
          <p role="alert" className="bad">
            ✕ {problem}
          </p>
        )}
        <button type="submit" className="primary">
          Create
        </button>
      </form>
      {made !== undefined && <Made {...made} />}
    </>
  );
}

function Made({ id, value }: { readonly id: string; readonly value: string }) {
  return (
    <Block title="The value is shown only once">
      <Code label="Value of the token" text={value} />
      <div className="actions">
        <CopyButton label="Copy" text={value} />
        <Link to="/explorer" search={({ world }) => ({ world, as: id })}>
          Use it in the explorer
        </Link>
      </div>
    </Block>
  );
}

interface NodeFieldProps {
  readonly name: string;
  readonly label: string;
  readonly section: string;
}

/** A field for a node's id, which offers the ids of existing nodes. */
function NodeField({ name, label, section }: NodeFieldProps) {
  const w = useWorld();
  const nodes = useQuery({ queryKey: ["nodes", w, section, "choice"], queryFn: () => listNodes(w, section, undefined) }).data?.data ?? [];
  return (
    <label className="field">
      {label}
      <input name={name} list={`ids-${name}`} required pattern="[0-9]+" autoComplete="off" />
      <datalist id={`ids-${name}`}>
        {nodes.map(({ id, name: called, username }) => (
          <option key={String(id)} value={String(id)}>
            {textOf(called ?? username)}
          </option>
        ))}
      </datalist>
    </label>
  );
}

/** A choice of all scopes that the operations require. */
function Scopes() {
  const operations = useQuery(operationsQuery(useWorld())).data?.data ?? [];
  const scopes = [...new Set(operations.flatMap((one) => one.scopes))].sort();
  return (
    <fieldset className="choices">
      <legend>Scopes</legend>
      {scopes.map((scope) => (
        <label key={scope}>
          <input type="checkbox" name="scopes" value={scope} /> {scope}
        </label>
      ))}
    </fieldset>
  );
}
