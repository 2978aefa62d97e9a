/** A small chart over time. Beside it stands the same in words, for those who do not see it. */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";

export interface Series {
  readonly label: string;
  /** A name of the style sheet's colours, e.g. `--good`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly isPoints?: boolean;
}

interface ChartProps {
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: string;
}

const HEIGHT = 160;
/** Around a single moment. */
const MARGIN_SECONDS = 60;

/** Changes with the theme, whose colours a canvas has to be painted with anew. */
function useThemeCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const changed = (): void => setCount((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = new MutationObserver(changed);
    system.addEventListener("change", changed);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", changed);
      chosen.disconnect();
    };
  }, []);
  return count;
}

export function Chart({ label, times, series, unit }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const themeCount = useThemeCount();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme paints it anew.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => resolved(element, style.getPropertyValue(name));
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { y: false },
        scales: { x: { range: rangeOf(times) } },
        axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => `${tick} ${unit}`) }],
        series: [
          { value: (_, seconds) => (seconds === null ? "" : new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")) },
          ...series.map(({ label: name, colour: of, isPoints }) => ({
            label: name,
            stroke: colour(of),
            width: isPoints === true ? 0 : 1.5,
            points: { show: isPoints === true, size: 6, fill: colour(of) },
            value: (_: uPlot, value: number | null) => (value === null ? "" : `${Math.round(value)} ${unit}`),
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, unit, themeCount]);
  return <div className="chart" ref={place} role="img" aria-label={label} />;
}

/** Of one moment, a little around it. */
function rangeOf(times: readonly number[]): [number, number] {
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  return from === to ? [from - MARGIN_SECONDS, to + MARGIN_SECONDS] : [from, to];
}

/** A canvas takes no variables and no light-dark(). */
function resolved(element: HTMLElement, colour: string): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
