import UPlot from 'uplot';
import type { CampaignTimeline } from '../../../api/generated/campaign-answers.ts';
import { Chart, timeSeries } from '../../../parts/chart.tsx';
import type { ChartTheme, Drawing } from '../../../parts/chart.tsx';
import { spanText } from '../../../parts/text/format-time.ts';

const wholeTimes = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 2 * 86_400, 7 * 86_400, 30 * 86_400];
const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The chart. The table next to it has the same data. */
export function TimelineChart({ timeline }: { timeline: CampaignTimeline }) {
  return (
    <Chart
      label="Devices over time; the table below shows the same data"
      height={220}
      drawn={JSON.stringify(timeline)}
      draw={(theme) => drawBars(timeline, theme)}
    />
  );
}

function drawBars(timeline: CampaignTimeline, { colour, axis, timeZone }: ChartTheme): Drawing {
  const accepted = colour('--carillon-mark');
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
    index === null ? '' : (columns[1]![index]! - columns[2]![index]!).toLocaleString('en');
  return {
    options: {
      scales: {
        // Adds space beside the bars. A single bar is in the middle of a short interval.
        x: { range: () => padded(columns[0], timeline.stepSeconds) },
        y: { range: (_chart, _least, most) => [0, Math.max(1, most)] },
      },
      axes: [
        // Ticks are whole seconds, because two ticks in one second would have the same label.
        {
          ...axis,
          grid: { show: false },
          size: 30,
          incrs: wholeTimes,
          values: (_chart, times) => times.map(clockTime),
        },
        // Ticks are whole devices.
        { ...axis, incrs: wholeSteps, values: (_chart, counts) => counts.map((count) => count.toLocaleString('en')) },
      ],
      series: [
        timeSeries(timeZone),
        // Draws the whole bar first and the accepted part over it. The visible rest was not delivered.
        { label: 'Not delivered', fill: missed, stroke: missed, paths: bars, points, value: notDeliveredAt },
        {
          label: `Accepted per ${spanText(timeline.stepSeconds)}`,
          fill: accepted,
          stroke: accepted,
          paths: bars,
          points,
          value: (_chart, count) => (count === null ? '' : count.toLocaleString('en')),
        },
      ],
    },
    data: columns,
  };
}

// Sets the range explicitly. With a single time the library would show years.
function padded(times: ArrayLike<number>, step: number): [number, number] {
  const pad = times.length < 10 ? 5 * step : step;
  return [times[0]! - pad, times[times.length - 1]! + pad];
}

/** Fills steps without data with zero, so that a pause is visible. */
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
