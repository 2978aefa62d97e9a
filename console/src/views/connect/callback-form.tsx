import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import type { Entry } from "../../api/graph/kinds.ts";
import { createNode, nodesQuery, updateNode } from "../../api/graph/nodes.ts";
import { nameOf } from "../../parts/named.tsx";
import { NodePicker } from "../../parts/node-picker.tsx";
import { sayProblem } from "../../parts/notices.tsx";
import { problemOf, Skeleton } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { entitiesOf } from "../webhooks/entities.ts";
import { useFields } from "../webhooks/fields.ts";

const NEW = "new";

interface Subscription {
  readonly object: string;
  readonly fields: readonly string[];
}

/** One form for an app, its callback and its subscriptions. Until the form is saved, it shows the present settings of the app. */
export function CallbackForm() {
  const w = useWorld();
  const apps = useQuery(nodesQuery(w, "apps")).data?.data;
  const [chosen, choose] = useState<string>();
  const [saved, setSaved] = useState<Subscription>();
  if (apps === undefined) return <Skeleton lines={4} />;
  const id = chosen ?? (apps[0] === undefined ? NEW : String(apps[0].id));
  const app = apps.find((one) => String(one.id) === id);
  return (
    <>
      <label className="field">
        App
        <select
          value={id}
          onChange={({ target }) => {
            choose(target.value);
            setSaved(undefined);
          }}
        >
          {apps.map((one) => (
            <option key={String(one.id)} value={String(one.id)}>
              {nameOf(one) || "app"} · {String(one.id)}
            </option>
          ))}
          <option value={NEW}>a new app</option>
        </select>
      </label>
      <AppFields key={id} app={app} saved={saved} onSaved={setSaved} onMade={choose} />
    </>
  );
}

interface AppFieldsProps {
  /** The app to change; undefined for a new one. */
  readonly app: Entry | undefined;
  /** The first subscription after the form was saved. */
  readonly saved: Subscription | undefined;
  readonly onSaved: (first: Subscription | undefined) => void;
  readonly onMade: (id: string) => void;
}

function AppFields({ app, saved, onSaved, onMade }: AppFieldsProps) {
  const w = useWorld();
  const client = useQueryClient();
  const fields = useFields(w);
  const had = (app?.subscriptions ?? []) as readonly Subscription[];
  const [problem, setProblem] = useState<string>();
  if (fields === undefined) return <Skeleton lines={4} />;
  const objects = [...Map.groupBy(fields, ({ object }) => object)];
  const save = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const subscriptions = objects.map(([object]) => ({ object, fields: given.getAll(object).map(String) })).filter((one) => one.fields.length > 0);
    try {
      const stored = await saveApp(w, app, given, subscriptions);
      setProblem(undefined);
      onSaved(subscriptions[0]);
      await client.invalidateQueries({ queryKey: ["nodes", w] });
      await client.invalidateQueries({ queryKey: ["callbacks", w] });
      if (app === undefined) onMade(stored);
    } catch (error) {
      onSaved(undefined);
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="form" onSubmit={(event) => void save(event)}>
      {app === undefined && (
        <label className="field">
          Name
          <input name="name" required placeholder="My shop" />
        </label>
      )}
      <label className="field">
        Callback, the address that gets the webhooks
        <input
          name="url"
          type="url"
          required
          placeholder="http://127.0.0.1:3000/webhooks"
          defaultValue={String((app?.callback as { readonly url?: string } | undefined)?.url ?? "")}
        />
      </label>
      {objects.map(([object, all]) => (
        <FieldsOf key={object} object={object} fields={all} chosen={had.find((one) => one.object === object)?.fields ?? []} />
      ))}
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary">
          Save callback and subscriptions
        </button>
        <TestEvent subscription={saved ?? had[0]} />
      </div>
      {saved !== undefined && <p className="good">✓ Saved. Send a test event to see it arrive.</p>}
    </form>
  );
}

/** Saves an app with its callback and its subscriptions. Returns the id of the app. */
async function saveApp(w: string, app: Entry | undefined, given: FormData, subscriptions: readonly Subscription[]): Promise<string> {
  const url = String(given.get("url")).trim();
  const entry = { callback: { url }, subscriptions };
  const stored =
    app === undefined
      ? await createNode(w, "apps", { ...entry, name: String(given.get("name")) })
      : await updateNode(w, "apps", String(app.id), app, { ...app, ...entry });
  const onPage = subscriptions.find(({ object }) => object === "page");
  if (onPage !== undefined) await subscribeOnPage(w, String(given.get("page_id")), String(stored.id), onPage.fields);
  return String(stored.id);
}

interface FieldsOfProps {
  readonly object: string;
  readonly fields: readonly { readonly field: string; readonly summary: string }[];
  readonly chosen: readonly string[];
}

/** The fields of one object, to which the app subscribes. */
function FieldsOf({ object, fields, chosen }: FieldsOfProps) {
  return (
    <fieldset className="choices">
      <legend>{object.replaceAll("_", " ")}</legend>
      {fields.map(({ field, summary }) => (
        <label key={field} title={summary}>
          <input type="checkbox" name={object} value={field} defaultChecked={chosen.includes(field)} />
          {field}
        </label>
      ))}
      {object === "page" && <NodePicker name="page_id" label="of the page" kind="pages" />}
    </fieldset>
  );
}

/** An app gets the events of a page to which it is subscribed on the page too (D-131). */
async function subscribeOnPage(w: string, id: string, app: string, fields: readonly string[]): Promise<void> {
  const params = { path: { w, id } };
  const { subscribed_apps } = await dataOf(api.GET("/v1/worlds/{w}/nodes/pages/{id}", { params }));
  const others = subscribed_apps.filter((one) => String(one.app) !== app);
  const body = { subscribed_apps: [...others, { app, subscribed_fields: [...fields] }] };
  await dataOf(api.PATCH("/v1/worlds/{w}/nodes/pages/{id}", { params, body }));
}

/** Triggers an example of the first event that the app is subscribed to, and opens its webhook. */
function TestEvent({ subscription }: { readonly subscription: Subscription | undefined }) {
  const w = useWorld();
  const navigate = useNavigate();
  const [object, field] = [subscription?.object, subscription?.fields[0]];
  const entity = useQuery({
    queryKey: ["entities", w, object],
    queryFn: () => entitiesOf(w, object ?? ""),
    enabled: object !== undefined,
  }).data?.[0]?.id;
  const trigger = async (): Promise<void> => {
    if (object === undefined || field === undefined || entity === undefined) return;
    try {
      const { deliveries } = await dataOf(
        api.POST("/v1/worlds/{w}/deliveries/trigger", {
          params: { path: { w } },
          body: { object: object as "page", field: field as never, entity },
        }),
      );
      if (deliveries[0] === undefined) throw new Error(`no app got the event: no app subscribes to ${object} ${field} of ${entity}`);
      await navigate({ to: "/webhooks", search: { world: w, delivery: deliveries[0] } });
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <button type="button" disabled={field === undefined || entity === undefined} onClick={() => void trigger()}>
      Send a test event
    </button>
  );
}
