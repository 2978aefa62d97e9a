/** Small components for states, times, code and facts. */
import { type ReactNode, useState } from "react";
import { useWorldNow } from "../shell/clock.tsx";
import { useWorld } from "../shell/world.ts";
import { Icon } from "./icon.tsx";

/** The status of a response. A sign beside the status says the same as its colour. */
export function HttpStatus({ status }: { readonly status: number }) {
  const [className, sign] = status < 400 ? ["good", "✓"] : status < 500 ? ["warn", "!"] : ["bad", "✕"];
  return (
    <span className={`mono ${className}`}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** The time from now to a moment, in the words that people use; from a month on, the date. */
export function agoText(seconds: number, now: number): string {
  const far = Math.abs(now - seconds);
  // The world's time comes in whole seconds and is shown once a second, so a request that just ended may seem to be ahead of it.
  if (far < (seconds > now ? 2 : 1)) return "now";
  if (far >= 30 * DAY) return exactText(seconds).slice(0, 10);
  const [size, unit] = far < MINUTE ? [1, "s"] : far < HOUR ? [MINUTE, "min"] : far < DAY ? [HOUR, "h"] : [DAY, "d"];
  const said = `${Math.floor(far / size)} ${unit}`;
  return seconds > now ? `in ${said}` : `${said} ago`;
}

const exactText = (seconds: number): string =>
  new Date(seconds * 1000)
    .toISOString()
    .replace("T", " ")
    .replace(/\.000Z$|Z$/, "");

/** A time of the world: how long ago it was, and the exact time when a pointer is over it; with `isLong` the exact time itself. */
export function WorldTime({ seconds, isLong = false }: { readonly seconds: number; readonly isLong?: boolean }) {
  const now = useWorldNow(useWorld())?.now;
  const exact = exactText(seconds);
  const ago = now === undefined ? "" : agoText(seconds, now);
  return (
    <time dateTime={new Date(seconds * 1000).toISOString()} title={`${exact} UTC in this world; here: ${new Date(seconds * 1000).toLocaleString()}`}>
      {isLong ? exact : ago}
      {isLong && ago !== "" && <span className="quiet"> · {ago}</span>}
    </time>
  );
}

export const milliseconds = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(2)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export const rateText = (perSecond: number): string => `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} req/s`;

export const countOf = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const SAID_MS = 1_500;

/** Copies a text. Returns the text to show for a moment after copying, and the function that copies. */
function useCopy(text: string | (() => Promise<string>)): readonly [said: string | undefined, copy: () => void] {
  const [said, setSaid] = useState<string>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setSaid("Copied");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : "Could not copy");
    }
    setTimeout(() => setSaid(undefined), SAID_MS);
  };
  return [said, () => void copy()];
}

export function CopyButton({ text, label }: { readonly text: string | (() => Promise<string>); readonly label: string }) {
  const [said, copy] = useCopy(text);
  return (
    <button type="button" onClick={copy}>
      <Icon name={said === "Copied" ? "check" : "copy"} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

/** Shows an id in grey. A click copies the id; in a table, the click on the row copies it (`data-copy`), because cells have no buttons. */
export function CopyId({ id, isCell = false }: { readonly id: string; readonly isCell?: boolean }) {
  const [said, copy] = useCopy(id);
  if (isCell)
    return (
      <span className="id" data-copy={id} title="Copy the id">
        {id}
      </span>
    );
  return (
    <button type="button" className="id" onClick={copy} title="Copy the id">
      <span aria-live="polite">{said ?? id}</span>
    </button>
  );
}

/** A value to copy: an address or a token. */
export function CopyValue({ value, label }: { readonly value: string; readonly label: string }) {
  const [said, copy] = useCopy(value);
  return (
    <button type="button" className="copy-value" onClick={copy}>
      <span className="hidden">Copy {label}: </span>
      <code className="one-line">{value}</code>
      <span aria-live="polite">{said === undefined ? <Icon name="copy" /> : said}</span>
    </button>
  );
}

export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface BlockProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Set if the block is in a view itself, not in a detail that has a title of its own. */
  readonly isOwn?: boolean;
}

export function Block({ title, children, isOwn = false }: BlockProps) {
  return (
    <section className="block">
      {isOwn ? <h2>{title}</h2> : <h3>{title}</h3>}
      {children}
    </section>
  );
}

/** A text in place of an empty list, which explains how to fill the list. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A text in place of rows that are not known yet. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike.
      <span key={at} />
    ))}
  </div>
);

interface NothingProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Set if nothing else on the page has a title. */
  readonly isWhole?: boolean;
}

/** A text in place of a view, which says that something does not exist, and where to go instead. */
export function Nothing({ title, children, isWhole = false }: NothingProps) {
  return (
    <section className="nothing" role="alert">
      <Icon name="circle-alert" />
      {isWhole ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </section>
  );
}

export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function Problem({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" className="bad block">
      ✕ {problemOf(error)}
    </p>
  );
}
