/** Small components for states, times, code and facts. */
import { type ReactNode, useState } from "react";

/** The status of a response. A sign says the same as the colour. */
export function HttpStatus({ status }: { readonly status: number }) {
  const [className, sign] = status < 400 ? ["good", "✓"] : status < 500 ? ["warn", "!"] : ["bad", "✕"];
  return (
    <span className={`mono ${className}`}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}

/** A time of the world, followed by the same moment in local time. */
export function WorldTime({ seconds, isLong = false }: { readonly seconds: number; readonly isLong?: boolean }) {
  const date = new Date(seconds * 1000);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={`here: ${date.toLocaleString()}`} className="mono">
      {isLong ? iso.replace("T", " ").replace(/\.000Z$|Z$/, "") : iso.slice(11, 19)}
    </time>
  );
}

export const milliseconds = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(2)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export const rateText = (perSecond: number): string => `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} req/s`;

export const countOf = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export function CopyButton({ text, label }: { readonly text: string | (() => Promise<string>); readonly label: string }) {
  const [said, setSaid] = useState<string>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setSaid("Copied");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : "Could not copy");
    }
    setTimeout(() => setSaid(undefined), 1_500);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
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

export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function Problem({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" className="bad block">
      ✕ {problemOf(error)}
    </p>
  );
}
