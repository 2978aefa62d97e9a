import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { JsonEditor } from "../../parts/lazy.tsx";
import { say } from "../../parts/notices.tsx";
import { problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** The kind of node that each object is about. */
const SECTIONS: Readonly<Record<string, "pages" | "social_accounts" | "chatapp_accounts">> = {
  page: "pages",
  social: "social_accounts",
  chatapp_business_account: "chatapp_accounts",
};

/** Any field of the catalogue, with an example to edit. */
export function Trigger({ onMade }: { readonly onMade: (delivery: string) => void }) {
  const w = useWorld();
  const fields = useQuery({
    queryKey: ["webhook-fields", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/webhook-fields", { params: { path: { w } } })),
  }).data?.data;
  const [chosen, choose] = useState(0);
  const field = fields?.[chosen];
  const [value, setValue] = useState("{}");
  const [problem, setProblem] = useState<string>();
  useEffect(() => setValue(JSON.stringify(field?.example ?? {}, undefined, 2)), [field]);
  if (fields === undefined || field === undefined) return null;
  const trigger = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const phone = String(given.get("phone_number") ?? "").trim();
    try {
      const { deliveries } = await dataOf(
        api.POST("/v1/worlds/{w}/deliveries/trigger", {
          params: { path: { w } },
          body: {
            object: field.object as "page",
            field: field.field as never,
            entity: String(given.get("entity")).trim(),
            ...(phone === "" ? {} : { phone_number: phone }),
            value: JSON.parse(value) as Record<string, unknown>,
          },
        }),
      );
      say(`Made ${deliveries.length} webhook${deliveries.length === 1 ? "" : "s"}`);
      if (deliveries[0] !== undefined) onMade(deliveries[0]);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="form" onSubmit={(event) => void trigger(event)}>
      <label className="field">
        Field
        <select value={chosen} onChange={({ target }) => choose(Number(target.value))}>
          {fields.map(({ object, field: name }, at) => (
            <option key={`${object} ${name}`} value={at}>
              {object} {name}
            </option>
          ))}
        </select>
      </label>
      <p className="quiet">{field.summary}</p>
      <Subject w={w} object={field.object} />
      <div className="field">
        <span>Value</span>
        <JsonEditor label="Value" value={value} onChange={setValue} />
      </div>
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
      <button type="submit" className="primary">
        Trigger
      </button>
    </form>
  );
}

/** What the event is of. */
function Subject({ w, object }: { readonly w: string; readonly object: string }) {
  const entities = useQuery({ queryKey: ["entities", w, object], queryFn: () => entitiesOf(w, object) }).data;
  return (
    <>
      <label className="field">
        Of the {object === "page" ? "page" : "account"}
        <input name="entity" list="entities" required pattern="[0-9]+" defaultValue={entities?.[0]?.id} key={entities?.[0]?.id} />
      </label>
      <datalist id="entities">
        {entities?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
      {object === "chatapp_business_account" && (
        <label className="field">
          Phone number, if it belongs to one
          <input name="phone_number" pattern="[0-9]*" />
        </label>
      )}
    </>
  );
}

interface Entity {
  readonly id: string;
  readonly name: string;
}

async function entitiesOf(w: string, object: string): Promise<Entity[]> {
  const key = SECTIONS[object] ?? "pages";
  const { data } = await dataOf(api.GET(`/v1/worlds/{w}/nodes/${key}`, { params: { path: { w }, query: {} } }));
  return (data as readonly { readonly id?: string; readonly name?: string; readonly username?: string }[]).flatMap(({ id, name, username }) =>
    id === undefined ? [] : [{ id: String(id), name: name ?? username ?? String(id) }],
  );
}
