/** Large components that load when a view first needs them, because the first view does not. */
import { lazy, Suspense } from "react";

const LazyEditor = lazy(() => import("./json-editor.tsx").then(({ JsonEditor: component }) => ({ default: component })));
const LazyChart = lazy(() => import("./chart.tsx").then(({ Chart: component }) => ({ default: component })));

type EditorProps = Parameters<typeof LazyEditor>[0];
type ChartProps = Parameters<typeof LazyChart>[0];

export const JsonEditor = (props: EditorProps) => (
  <Suspense fallback={<div className="editor" style={{ minHeight: 120 }} />}>
    <LazyEditor {...props} />
  </Suspense>
);

export const Chart = (props: ChartProps) => (
  <Suspense fallback={<div className="chart" />}>
    <LazyChart {...props} />
  </Suspense>
);
