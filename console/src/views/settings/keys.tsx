import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { act, say, sayProblem } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, Code, CopyButton } from "../../parts/texts.tsx";
import { keepKey } from "../../session/key.ts";

/** Returns whether a control key is valid. The times of keys are this machine's, in seconds that are rounded up. */
const isValid = ({ expires_at }: { readonly expires_at: number }): boolean => expires_at === 0 || expires_at - 1 > Date.now() / 1000;

/** The time for which a replaced key stays valid, so that every program can get the new key. */
const OVERLAP_SECONDS = 86_400;

export function Keys() {
  const client = useQueryClient();
  const [value, setValue] = useState<string>();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => dataOf(api.GET("/v1/control-keys", { params: { query: {} } })) }).data?.data ?? [];
  const changed = () => client.invalidateQueries({ queryKey: ["keys"] });
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    try {
      const world = String(given.get("world"));
      const body = { access: String(given.get("access")) as "read", name: String(given.get("name")), ...(world === "" ? {} : { world }) };
      setValue((await dataOf(api.POST("/v1/control-keys", { body }))).key);
      await changed();
    } catch (error) {
      sayProblem(error);
    }
  };
  const end = (id: string) =>
    act("Revoked", async () => {
      await dataOf(api.DELETE("/v1/control-keys/{id}", { params: { path: { id } } }));
      await changed();
    });
  const replace = async (): Promise<void> => {
    try {
      const { key } = await dataOf(api.POST("/v1/control-keys/rotate", { body: { overlap_seconds: OVERLAP_SECONDS } }));
      // This tab uses the new key from now on.
      keepKey(key);
      setValue(key);
      say("Replaced: the old key is valid for another day");
      await changed();
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <Block isOwn title="Control keys">
      <ul>
        {keys.filter(isValid).map(({ id, name, access, world, expires_at }) => (
          <li key={id}>
            {name || id}, {access}
            {world !== undefined && `, in the world ${world} alone`}
            {expires_at !== 0 && `, until ${new Date(expires_at * 1000).toISOString().slice(0, 16).replace("T", " ")}`}{" "}
            <Sure text="Revoke" sure={`Revoke the key ${name || id}`} onSure={() => void end(id)} />
          </li>
        ))}
      </ul>
      <form className="actions" onSubmit={(event) => void make(event)}>
        <input name="name" aria-label="Purpose of the key" placeholder="Purpose" required />
        <input name="world" aria-label="World of the key" placeholder="World (empty: all)" />
        <select name="access" aria-label="Access">
          <option value="read">read only</option>
          <option value="full">full access</option>
        </select>
        <button type="submit">Create a key</button>
        <Sure text="Replace the key of this tab" sure="Replace the key; the old one is valid for another day" onSure={() => void replace()} />
      </form>
      {value !== undefined && (
        <>
          <p>The value is shown only once:</p>
          <Code label="Value of the key" text={value} />
          <CopyButton label="Copy" text={value} />
        </>
      )}
    </Block>
  );
}
