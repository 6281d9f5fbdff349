import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { CampaignTimeline } from '../api/generated/campaign.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { spanText } from '../parts/format-duration.ts';

const height = 220;
const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The picture; the table beside it says the same. */
export function TimelineChart({ timeline }: { timeline: CampaignTimeline }) {
  const element = useRef<HTMLDivElement>(null);
  const { timeZone } = useWorkspace();
  const isDark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const place = element.current!;
    const colour = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
    const line = colour('--mantine-color-default-border');
    const axis: UPlot.Axis = {
      stroke: colour('--mantine-color-dimmed'),
      font: `12px ${colour('--mantine-font-family')}`,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
    };
    const accepted = colour('--mantine-primary-color-filled');
    const missed = colour('--mantine-color-red-6');
    const bars = UPlot.paths.bars!({ size: [0.9, 60] });
    const points = { show: false };
    const columns = toColumns(timeline);
    const hours = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      ...(timeline.stepSeconds >= 86_400 ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' }),
      ...(timeline.stepSeconds < 60 && { second: '2-digit' }),
    } as Intl.DateTimeFormatOptions);
    const clockTime = (seconds: number) => hours.format(seconds * 1000);
    const notDeliveredAt: UPlot.Series.Value = (...[, , , index]) =>
      index === null ? '–' : String(columns[1]![index]! - columns[2]![index]!);
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
        axes: [
          { ...axis, grid: { show: false }, values: (_chart, times) => times.map(clockTime) },
          // Whole devices: half a tick would be half a device.
          { ...axis, incrs: wholeSteps, values: (_chart, counts) => counts.map((count) => count.toLocaleString('en')) },
        ],
        series: [
          { label: timeZone },
          // The whole bar first, and what was accepted drawn over it: what is left of the whole was not delivered.
          { label: 'Not delivered', fill: missed, stroke: missed, paths: bars, points, value: notDeliveredAt },
          {
            label: `Accepted per ${spanText(timeline.stepSeconds)}`,
            fill: accepted,
            stroke: accepted,
            paths: bars,
            points,
          },
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
    times.map((time) => (byTime.get(time)?.accepted ?? 0) + (byTime.get(time)?.notDelivered ?? 0)),
    times.map((time) => byTime.get(time)?.accepted ?? 0),
  ];
}
