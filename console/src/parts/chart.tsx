/** A small chart over time. Beside it stands the same in words, for those who do not see it. */
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
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: string;
  /** What stands under the pointer, in words below it. */
  readonly hasLegend?: boolean;
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

export function Chart({ label, times, series, unit, hasLegend = true }: ChartProps) {
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
        legend: { show: hasLegend },
        scales: { x: { range: aroundOne } },
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
