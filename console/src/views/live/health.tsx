/** The health of an encoder's stream: warnings, and metrics of the last minutes. */
import { useMemo } from "react";
import { Chart } from "../../parts/lazy.tsx";
import { Block } from "../../parts/texts.tsx";
import type { LiveState, Sample } from "./live-videos.ts";

type Health = NonNullable<LiveState["health"]>;

interface Metric {
  readonly title: string;
  readonly unit: string;
  of(health: Health): number | null;
}

const metrics: readonly Metric[] = [
  { title: "Bit rate", unit: "kbit/s", of: ({ bits_per_second }) => bits_per_second / 1_000 },
  { title: "Frame rate", unit: "fps", of: ({ frames_per_second }) => frames_per_second },
  { title: "Key-frame distance", unit: "ms", of: ({ key_frame_ms }) => key_frame_ms },
  { title: "Sound", unit: "kbit/s", of: ({ audio_bits_per_second }) => audio_bits_per_second / 1_000 },
  { title: "Delay of the sound", unit: "ms", of: ({ audio_behind_ms }) => audio_behind_ms },
  { title: "Gaps in the picture", unit: "", of: ({ gaps }) => gaps },
];

export function FeedHealth({ health, samples }: { readonly health: LiveState["health"]; readonly samples: readonly Sample[] }) {
  const times = useMemo(() => samples.map(({ at }) => at), [samples]);
  return (
    <Block title="Health">
      {health === undefined ? (
        <p className="quiet">No encoder sends to this server at the moment.</p>
      ) : (
        <>
          <p>
            {health.width} × {health.height} pixels
          </p>
          {health.warnings.length === 0 && <p className="good">✓ Nothing to change at the encoder.</p>}
          <ul aria-label="Warnings">
            {health.warnings.map((warning) => (
              <li key={warning} className="warn">
                ! {warning}
              </li>
            ))}
          </ul>
        </>
      )}
      {times.length > 0 && (
        <div className="metrics">
          {metrics.map((metric) => (
            <MetricChart key={metric.title} metric={metric} times={times} samples={samples} />
          ))}
        </div>
      )}
    </Block>
  );
}

interface MetricChartProps {
  readonly metric: Metric;
  readonly times: readonly number[];
  readonly samples: readonly Sample[];
}

function MetricChart({ metric: { title, unit, of }, times, samples }: MetricChartProps) {
  const values = useMemo(() => samples.map(({ health }) => (health === undefined ? null : of(health))), [samples, of]);
  const series = useMemo(
    () => [{ label: title, colour: "--accent", values, isPoints: values.filter((value) => value !== null).length < 2 }],
    [title, values],
  );
  const last = values.at(-1);
  const said = last === null || last === undefined ? "no data now" : `${Math.round(last)} ${unit}`.trim();
  return (
    <div className="metric">
      <p>
        {title}: <strong>{said}</strong>
      </p>
      <Chart label={`${title} over the last minutes, ${said}`} times={times} series={series} unit="" hasLegend={false} />
    </div>
  );
}
