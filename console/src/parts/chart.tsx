/** A small chart over time. A text beside the chart gives the same information, for people who cannot see the chart. */
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
  /** Unix seconds, ascending. If `isAgo` is set, the times are seconds before now, as numbers that rise to 0. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: string;
  /** Whether a text shows the values of the point under the pointer. */
  readonly hasLegend?: boolean;
  readonly isAgo?: boolean;
}

const HEIGHT = 160;
/** The width in pixels that a label such as "10 min ago" needs. */
const LABEL_PIXELS = 88;
const MINUTE = 60;
/** The time that the chart shows before and after its data if all data is of one moment. */
const MARGIN_SECONDS = MINUTE;

/** A count that changes with the theme, because the canvas has to be painted again in the theme's colours. */
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
          isAgo ? { ...axis, space: LABEL_PIXELS, incrs: [MINUTE, 2 * MINUTE, 5 * MINUTE], values: (_, ticks) => ticks.map(agoText) } : axis,
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

/** The range of values is from 0 to at least 1, so that a chart of zeros is a line at the bottom. */
const fromZero = (_: uPlot, __: number, to: number): [number, number] => [0, Math.max(1, to * 1.1)];

/** The range of times that the chart shows. If all data is of one moment, the chart also shows a little time before and after it. */
const aroundOne = (_: uPlot, from: number, to: number): [number, number] => (from === to ? [from - MARGIN_SECONDS, to + MARGIN_SECONDS] : [from, to]);

/** The colour that a CSS text stands for: a canvas takes neither variables nor light-dark(). */
function resolved(element: HTMLElement, colour: string): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
