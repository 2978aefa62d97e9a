import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { Block, Code, CopyButton, problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** Which node each kind stands for. */
const PRINCIPALS = {
  page: "page",
  user: "user",
  system_user: "user",
  social_user: "social_account",
  microblog_user: "microblog_user",
  app: undefined,
} as const;
type Kind = keyof typeof PRINCIPALS;

export function MintToken() {
  const w = useWorld();
  const client = useQueryClient();
  const [kind, setKind] = useState<Kind>("page");
  const [value, setValue] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const principal = PRINCIPALS[kind];
  const mint = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => String(given.get(name) ?? "").trim();
    const scopes = text("scopes")
      .split(/[\s,]+/)
      .filter((scope) => scope !== "");
    try {
      const body = { type: kind, app: text("app"), scopes, ...(principal === undefined ? {} : { [principal]: text("principal") }) };
      const { token } = await dataOf(api.POST("/v1/worlds/{w}/tokens", { params: { path: { w } }, body }));
      setValue(token);
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
        <label className="field">
          Id of the app
          <input name="app" required pattern="[0-9]+" />
        </label>
        {principal !== undefined && (
          <label className="field">
            Id of the {principal.replace("_", " ")}
            <input name="principal" required pattern="[0-9]+" />
          </label>
        )}
        <label className="field">
          Scopes, with commas
          <input name="scopes" />
        </label>
        {problem !== undefined && (
          <p role="alert" className="bad">
            ✕ {problem}
          </p>
        )}
        <button type="submit" className="primary">
          Make
        </button>
      </form>
      {value !== undefined && (
        <Block title="Its value, which is shown once">
          <Code label="Value of the token" text={value} />
          <CopyButton label="Copy" text={value} />
        </Block>
      )}
    </>
  );
}
