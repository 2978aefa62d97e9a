import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { operationsQuery } from "../../api/queries.ts";
import { NodePicker } from "../../parts/node-picker.tsx";
import { problemOf, Skeleton } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { keepToken } from "./made-tokens.ts";

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

const spoken = (text: string): string => text.replaceAll(/[_-]/g, " ");
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A form that creates a token, and then opens it with its value. */
export function MintToken({ onMade }: { readonly onMade: (id: string) => void }) {
  const w = useWorld();
  const client = useQueryClient();
  const now = useWorldNow(w)?.now ?? 0;
  const [kind, setKind] = useState<Kind>("page");
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
      if (token !== undefined) keepToken(id, token);
      await client.invalidateQueries({ queryKey: ["tokens", w] });
      onMade(id);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="form" onSubmit={(event) => void mint(event)}>
      <label className="field">
        Type
        <select value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
          {Object.keys(PRINCIPALS).map((name) => (
            <option key={name} value={name}>
              {spoken(name)}
            </option>
          ))}
        </select>
      </label>
      <NodePicker name="app" label="App" kind="apps" />
      {principal !== undefined && <NodePicker key={principal[1]} name="principal" label={capital(spoken(principal[0]))} kind={principal[1]} />}
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
  );
}

/** The number of operations that are named beside a scope. */
const NAMED_MAX = 3;

/** A choice of all scopes that the server knows, by the part of the graph, each with the operations that need it. */
function Scopes() {
  const scopes = useQuery({
    queryKey: ["scopes"],
    queryFn: () => dataOf(api.GET("/v1/scopes")),
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.data;
  const operations = useQuery(operationsQuery(useWorld())).data?.data ?? [];
  if (scopes === undefined) return <Skeleton lines={6} />;
  const purposeOf = (scope: string, areas: readonly string[]): string => {
    const names = operations.filter((one) => one.scopes.includes(scope)).map(({ operation }) => operation);
    if (names.length === 0) return areas.map(spoken).join(", ");
    return names.slice(0, NAMED_MAX).join(", ") + (names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "");
  };
  return [...Map.groupBy(scopes, ({ areas }) => areas[0] ?? "others")].map(([area, all]) => (
    <fieldset key={area} className="choices">
      <legend>Scopes: {spoken(area)}</legend>
      {all.map(({ scope, areas }) => (
        <label key={scope}>
          <input type="checkbox" name="scopes" value={scope} />
          <span>
            {scope} <small className="quiet">{purposeOf(scope, areas)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  ));
}
