import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { parseExact } from "../../parts/json.ts";
import { JsonEditor } from "../../parts/lazy.tsx";
import { say } from "../../parts/notices.tsx";
import { problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { entitiesOf } from "./entities.ts";
import { useFields } from "./fields.ts";

const ID = /^[1-9][0-9]{0,18}$/;
const NAMES: Readonly<Record<string, string>> = { page: "page", catalog: "catalog" };

/** A form that sends a webhook of any field of the catalogue, with an example payload to edit. */
export function Trigger({ onMade }: { readonly onMade: (delivery: string) => void }) {
  const w = useWorld();
  const fields = useFields(w);
  const [chosen, choose] = useState(0);
  const field = fields?.[chosen];
  const [of, setOf] = useState<Of>({ entity: "", phone: "" });
  const example = useExample(w, field, of);
  const [value, setValue] = useState("{}");
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (example !== undefined) setValue(JSON.stringify(example, undefined, 2));
  }, [example]);
  if (fields === undefined || field === undefined) return null;
  const trigger = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    try {
      const { deliveries } = await dataOf(
        api.POST("/v1/worlds/{w}/deliveries/trigger", {
          params: { path: { w } },
          body: {
            object: field.object as "page",
            field: field.field as never,
            entity: of.entity,
            ...(of.phone === "" ? {} : { phone_number: of.phone }),
            value: parseExact(value) as Record<string, unknown>,
          },
        }),
      );
      say(`Created ${deliveries.length} webhook${deliveries.length === 1 ? "" : "s"}`);
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
      <Subject key={field.object} w={w} object={field.object} of={of} onChange={setOf} />
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

interface Of {
  readonly entity: string;
  readonly phone: string;
}

/** The example payload for the chosen entity. Until a person chooses an entity, the payload is for an invented entity. */
function useExample(
  w: string,
  field: { readonly object: string; readonly field: string; readonly example: object } | undefined,
  { entity, phone }: Of,
) {
  const isChosen = ID.test(entity);
  const { data } = useQuery({
    queryKey: ["webhook-example", w, field?.object, field?.field, entity, phone],
    queryFn: () =>
      dataOf(
        api.GET("/v1/worlds/{w}/webhook-fields/{object}/{field}/example", {
          params: {
            path: { w, object: field?.object ?? "", field: field?.field ?? "" },
            query: { entity, ...(ID.test(phone) ? { phone_number: phone } : {}) },
          },
        }),
      ),
    enabled: field !== undefined && isChosen,
    // The example is never read again, because a new example would replace text that a person edited.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return isChosen ? data?.value : field?.example;
}

interface SubjectProps {
  readonly w: string;
  readonly object: string;
  readonly of: Of;
  readonly onChange: (of: Of) => void;
}

/** A choice of the entity that the webhook is about. */
function Subject({ w, object, of, onChange }: SubjectProps) {
  const entities = useQuery({ queryKey: ["entities", w, object], queryFn: () => entitiesOf(w, object) }).data;
  const first = entities?.[0]?.id ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first one is chosen once it is known.
  useEffect(() => onChange({ entity: first, phone: "" }), [first]);
  return (
    <>
      <label className="field">
        Of the {NAMES[object] ?? "account"}
        <input
          list="entities"
          required
          pattern="[0-9]+"
          value={of.entity}
          onChange={({ target }) => onChange({ ...of, entity: target.value.trim() })}
        />
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
          <input pattern="[0-9]*" value={of.phone} onChange={({ target }) => onChange({ ...of, phone: target.value.trim() })} />
        </label>
      )}
    </>
  );
}
