/** The lifetimes of versions as bars, with the dates as text. */
interface Version {
  readonly version: string;
  readonly released: number;
  readonly until?: number | undefined;
}

interface LifetimesProps {
  readonly versions: readonly Version[];
  readonly now: number;
  readonly chosen: number;
}

const YEAR = 31_536_000;
const day = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

function stateOf({ released, until }: Version, now: number): readonly [className: string, text: string] {
  if (released > now) return ["quiet", `… from ${day(released)}`];
  if (until === undefined) return ["good", "✓ served"];
  if (until <= now) return ["bad", `✕ ended ${day(until)}`];
  return until - now < YEAR / 4 ? ["warn", `! ends ${day(until)}`] : ["good", `✓ until ${day(until)}`];
}

/** The years that begin between two times. */
function yearsBetween(from: number, to: number): number[] {
  const yearOf = (seconds: number): number => new Date(seconds * 1000).getUTCFullYear();
  return Array.from({ length: yearOf(to) - yearOf(from) }, (_, at) => yearOf(from) + 1 + at);
}

export function Lifetimes({ versions, now, chosen }: LifetimesProps) {
  const from = Math.min(now, ...versions.map(({ released }) => released));
  const to = Math.max(now, chosen, ...versions.map(({ until, released }) => until ?? released)) + YEAR / 4;
  const share = (seconds: number): string => `${(100 * (Math.min(seconds, to) - from)) / (to - from)}%`;
  return (
    <>
      <ul className="lifetimes">
        {versions.toReversed().map((version) => {
          const { released, until = to } = version;
          const [className, text] = stateOf(version, now);
          return (
            <li key={version.version}>
              <span className="mono">{version.version}</span>
              <span className="lifetime" aria-hidden="true">
                <span className="life" style={{ left: share(released), width: `calc(${share(until)} - ${share(released)})` }} />
                <span className="mark" style={{ left: share(now) }} />
                <span className="mark chosen" style={{ left: share(chosen) }} />
              </span>
              <span className={className}>
                from {day(released)}, {text}
              </span>
            </li>
          );
        })}
      </ul>
      <div className="years" aria-hidden="true">
        <span className="lifetime">
          {yearsBetween(from, to).map((year) => (
            <span key={year} className="year" style={{ left: share(Date.UTC(year, 0) / 1000) }}>
              {year}
            </span>
          ))}
        </span>
      </div>
    </>
  );
}
