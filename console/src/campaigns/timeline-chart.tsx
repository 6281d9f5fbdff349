import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { CampaignTimeline } from '../api/generated/campaign.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { spanText } from '../parts/format-duration.ts';

const height = 220;

/** The picture; the table beside it says the same. */
export function TimelineChart({ timeline }: { timeline: CampaignTimeline }) {
  const element = useRef<HTMLDivElement>(null);
  const { timeZone } = useWorkspace();
  const isDark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const place = element.current!;
    const axis = { stroke: isDark ? '#ddd' : '#222', grid: { stroke: isDark ? '#444' : '#ddd' } };
    const bars = UPlot.paths.bars!({ size: [0.9, 60] });
    const points = { show: false };
    const columns = toColumns(timeline);
    const chart = new UPlot(
      {
        width: place.clientWidth,
        height,
        // Times as everywhere here: in the zone of the workspace.
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), timeZone),
        scales: {
          // Room beside the bars; a single one stands in the middle of a short while.
          x: { range: () => padded(columns[0], timeline.stepSeconds) },
          y: { range: (_chart, _least, most) => [0, Math.max(1, most)] },
        },
        axes: [axis, axis],
        series: [
          { label: timeZone },
          {
            label: `Accepted per ${spanText(timeline.stepSeconds)}`,
            fill: '#3b5bdb',
            stroke: '#3b5bdb',
            paths: bars,
            points,
          },
          { label: 'Not delivered', fill: '#c92a2a', stroke: '#c92a2a', paths: bars, points },
        ],
      },
      columns,
      place,
    );
    const watcher = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      chart.destroy();
    };
  }, [timeline, timeZone, isDark]);
  return <div ref={element} role="img" aria-label="Devices over time; the table below shows the same data" />;
}

// From the times themselves: given one time alone, the library would show years.
function padded(times: ArrayLike<number>, step: number): [number, number] {
  const pad = times.length < 10 ? 5 * step : step;
  return [times[0]! - pad, times[times.length - 1]! + pad];
}

/** Steps without anything are there with zero, so that a pause looks like one. */
function toColumns({ steps, stepSeconds }: CampaignTimeline): UPlot.AlignedData {
  const secondsOf = (at: string) => Date.parse(at) / 1000;
  const byTime = new Map(steps.map((step) => [secondsOf(step.at), step]));
  const first = secondsOf(steps[0]!.at);
  const last = secondsOf(steps.at(-1)!.at);
  const times = Array.from(
    { length: Math.round((last - first) / stepSeconds) + 1 },
    (_, index) => first + index * stepSeconds,
  );
  return [
    times,
    times.map((time) => byTime.get(time)?.accepted ?? 0),
    times.map((time) => byTime.get(time)?.notDelivered ?? 0),
  ];
}
