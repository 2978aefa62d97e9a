/** A small chart over time. A text beside it says the same, for people who cannot see it. */
import { useEffect, useMemo, useRef, useState } from "react";
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
  /** Unix seconds, ascending; or with `isAgo` seconds before now, from below 0 to 0. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: string;
  /** A text about the point under the pointer. */
  readonly hasLegend?: boolean;
  readonly isAgo?: boolean;
}

const HEIGHT = 160;
const MINUTE = 60;
/** Around a single moment. */
const MARGIN_SECONDS = MINUTE;

/** Changes with the theme, because a canvas has to be painted again with its colours. */
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

export function Chart({ label, times, series, unit, hasLegend = true, isAgo = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const themeCount = useThemeCount();
  const data = useMemo((): uPlot.AlignedData => [[...times], ...series.map(({ values }) => [...values])], [times, series]);
  const shape = series.map(({ label: name, colour, isPoints }) => `${name} ${colour} ${isPoints}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another shape or theme paints it anew; new values go into the same plot.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => resolved(element, style.getPropertyValue(name));
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { y: false },
        legend: { show: hasLegend, live: !isAgo },
        scales: { x: { range: aroundOne, time: !isAgo }, ...(isAgo ? { y: { range: fromZero } } : {}) },
        axes: [
          isAgo ? { ...axis, incrs: [MINUTE, 2 * MINUTE, 5 * MINUTE], values: (_, ticks) => ticks.map(agoText) } : axis,
          { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => `${tick} ${unit}`) },
        ],
        series: [
          { value: (_, seconds) => (seconds === null ? "" : timeText(seconds)) },
          ...series.map(({ label: name, colour: of, isPoints }) => ({
            label: name,
            stroke: colour(of),
            width: isPoints === true ? 0 : 1.5,
            points: { show: isPoints === true, size: 6, fill: colour(of) },
            value: (_: uPlot, value: number | null) => (value === null ? "" : `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`),
          })),
        ],
      },
      data,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, unit, hasLegend, themeCount]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div className="chart" ref={place} role="img" aria-label={label} />;
}

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

const agoText = (seconds: number): string => (seconds === 0 ? "now" : `${-seconds / MINUTE} min ago`);

/** So that nothing is drawn as much as something. */
const fromZero = (_: uPlot, __: number, to: number): [number, number] => [0, Math.max(1, to * 1.1)];

/** Of one moment, a little around it. */
const aroundOne = (_: uPlot, from: number, to: number): [number, number] => (from === to ? [from - MARGIN_SECONDS, to + MARGIN_SECONDS] : [from, to]);

/** A canvas takes no variables and no light-dark(). */
function resolved(element: HTMLElement, colour: string): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
