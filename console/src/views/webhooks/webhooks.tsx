import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Named } from "../../parts/named.tsx";
import { Split } from "../../parts/split.tsx";
import { Block, Empty, Problem, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { CallbackDetail } from "./callback-detail.tsx";
import { type Callback, useCallbacks } from "./callbacks.ts";
import { type Delivery, useDeliveries } from "./deliveries.ts";
import { DeliveryDetail } from "./delivery-detail.tsx";
import { kindOf } from "./entities.ts";
import { useFields } from "./fields.ts";
import { ReplaySpan } from "./replay-span.tsx";
import { CallbackStatus, DeliveryStatus } from "./statuses.tsx";
import { Trigger } from "./trigger.tsx";

const route = getRouteApi("/webhooks");

const columns: readonly Column<Delivery>[] = [
  { id: "time", title: "Time", width: "80px", cell: ({ time }) => <WorldTime seconds={time} /> },
  { id: "status", title: "Status", width: "168px", cell: (delivery) => <DeliveryStatus {...delivery} /> },
  { id: "field", title: "Field", width: "minmax(140px, 1fr)", cell: ({ object, field }) => `${object} ${field}` },
  { id: "entity", title: "About", width: "minmax(160px, 1fr)", cell: ({ object, entity }) => <Named kind={kindOf(object)} id={entity} isCell /> },
  { id: "app", title: "App", width: "minmax(130px, 0.8fr)", cell: ({ app }) => <Named kind="apps" id={app} isCell /> },
  { id: "callback", title: "Callback", width: "minmax(160px, 2fr)", cell: ({ callback }) => <span className="mono">{callback ?? "none"}</span> },
  { id: "attempts", title: "Attempts", width: "64px", isNumber: true, cell: ({ attempts }) => attempts.length },
];

/** The columns that are shown while a detail is open, because the list then has less space. */
const fewer = columns.filter(({ id }) => id !== "app" && id !== "callback" && id !== "attempts");

const idOf = ({ id }: Delivery): string => id;
const statuses = ["waiting", "sending", "delivered", "failed", "unsubscribed"] as const;

const TITLES: Readonly<Record<string, string>> = { trigger: "Trigger an event", replay: "Replay" };

interface Change {
  readonly delivery?: string | undefined;
  readonly open?: string | undefined;
  readonly status?: string | undefined;
  readonly callback?: string | undefined;
  readonly field?: string | undefined;
}

export function Webhooks() {
  const world = useWorld();
  const { status, callback, field, delivery, open } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useMemo(() => ({ status, callback, field }), [status, callback, field]);
  const { rows, isLoaded, error, more } = useDeliveries(world, filter);
  const callbacks = useCallbacks(world).data?.data ?? [];
  const set = useCallback((change: Change) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true }), [navigate]);
  const close = useCallback(() => set({ delivery: undefined, open: undefined }), [set]);
  const chosen = callbacks.find(({ id }) => id === callback);
  const detail =
    open === "trigger" ? (
      <Trigger onMade={(id) => set({ open: undefined, delivery: id })} />
    ) : open === "replay" ? (
      <Block title="Resend to every callback">
        <p className="quiet">
          Sends webhooks again with the same ids and bodies, and resumes paused callbacks. To resend to one callback, choose it above.
        </p>
        <ReplaySpan />
      </Block>
    ) : delivery !== undefined ? (
      <DeliveryDetail key={delivery} id={delivery} onCallback={(id) => set({ callback: id, open: "callback", delivery: undefined })} />
    ) : open === "callback" && chosen !== undefined ? (
      <CallbackDetail key={chosen.id} callback={chosen} />
    ) : undefined;
  return (
    <>
      <Filters callbacks={callbacks} onSet={set} />
      <Split title={TITLES[open ?? ""] ?? (delivery === undefined ? "Callback" : "Webhook")} detail={detail} onClose={close}>
        {error !== null && <Problem error={error} />}
        {rows.length === 0 && isLoaded ? (
          <Empty title={status === undefined && callback === undefined && field === undefined ? "No webhook yet" : "No webhook matches the filter"}>
            <p>
              Plaza sends a webhook when an event happens to which an app is subscribed. Give the app a callback (<code>bin/plaza listen</code> shows
              what it gets), subscribe it, and change a node, or trigger an event.
            </p>
          </Empty>
        ) : (
          <DataTable
            label="Webhooks, the newest first"
            columns={detail === undefined ? columns : fewer}
            rows={rows}
            idOf={idOf}
            chosen={delivery}
            onChoose={(id) => set({ delivery: id, open: undefined })}
            onEnd={more}
          />
        )}
      </Split>
    </>
  );
}

function Filters({ callbacks, onSet: set }: { readonly callbacks: readonly Callback[]; readonly onSet: (change: Change) => void }) {
  const { status, callback, field } = route.useSearch();
  const fields = useFields(useWorld());
  const names = [...new Set(fields?.map(({ field: name }) => name))].sort();
  const chosen = callbacks.find(({ id }) => id === callback);
  return (
    <search className="bar" aria-label="Filter">
      <label>
        Callback
        <select
          value={callback ?? ""}
          onChange={({ target: { value } }) =>
            set({ callback: value || undefined, open: value === "" ? undefined : "callback", delivery: undefined })
          }
        >
          <option value="">all</option>
          {callbacks.map(({ id, url, status: health }) => (
            <option key={id} value={id}>
              {url} ({health})
            </option>
          ))}
        </select>
      </label>
      {chosen !== undefined && <CallbackStatus {...chosen} />}
      <label>
        Field
        <select value={field ?? ""} onChange={({ target: { value } }) => set({ field: value || undefined })}>
          <option value="">all</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {statuses.map((name) => (
        <button type="button" key={name} aria-pressed={status === name} onClick={() => set({ status: status === name ? undefined : name })}>
          {name}
        </button>
      ))}
      <span className="space" />
      <button type="button" onClick={() => set({ open: "replay", delivery: undefined })}>
        Replay…
      </button>
      <button type="button" className="primary" onClick={() => set({ open: "trigger", delivery: undefined })}>
        Trigger an event
      </button>
    </search>
  );
}
