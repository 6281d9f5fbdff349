import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './chart.module.css';

export type ChartTheme = {
  /** Returns the value of a theme variable, such as `--mantine-color-red-6`. */
  colour: (name: string) => string;
  axis: UPlot.Axis;
  timeZone: string;
  isDark: boolean;
};

export type Drawing = { options: Omit<UPlot.Options, 'width' | 'height' | 'tzDate'>; data: UPlot.AlignedData };

type ChartProps = {
  label: string;
  height: number;
  /** The data as text. The page refetches every few seconds, and unchanged data is not drawn again. */
  drawn: string;
  draw: (theme: ChartTheme) => Drawing;
};

/** A chart over time in the workspace's zone, as wide as its container. Text next to the chart has the same data. */
export function Chart({ label, height, drawn, draw }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const { timeZone } = useWorkspace();
  const isDark = useComputedColorScheme('light') === 'dark';
  const newest = useRef(draw);
  newest.current = draw;
  useEffect(() => {
    const place = element.current!;
    const colour = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
    const axis: UPlot.Axis = {
      stroke: colour('--mantine-color-dimmed'),
      font: `12px ${colour('--mantine-font-family')}`,
      grid: { stroke: colour('--mantine-color-default-border'), width: 1 },
      ticks: { show: false },
    };
    const { options, data } = newest.current({ colour, axis, timeZone, isDark });
    const tzDate = (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), timeZone);
    const chart = new UPlot({ ...options, width: place.clientWidth, height, tzDate }, data, place);
    const watcher = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      chart.destroy();
    };
  }, [drawn, height, timeZone, isDark]);
  return <div ref={element} className={styles.chart} role="img" aria-label={label} style={{ minHeight: height }} />;
}

/** Formats the time under the mouse for the legend; an empty text while the mouse is elsewhere. */
export function timeSeries(timeZone: string): UPlot.Series {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  return { label: '', value: (_chart, time) => (time === null ? '' : `${clock.format(time * 1000)} ${timeZone}`) };
}

export type ChartLine = {
  label: string;
  /** A colour of the theme: `accent`, `teal`. */
  colour: string;
  values: readonly (number | null)[];
};

type LineChartProps = {
  label: string;
  /** Start times of the steps, at equal distances. */
  steps: readonly string[];
  lines: readonly ChartLine[];
  /** Formats a value. */
  format: (value: number) => string;
};

/** A line chart. A text next to it has the same data for screen readers. */
export function LineChart({ label, steps, lines, format }: LineChartProps) {
  return (
    <Chart
      label={label}
      height={180}
      drawn={JSON.stringify({ steps, lines })}
      draw={(theme) => drawLines({ steps, lines, format, theme })}
    />
  );
}

const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

type Drawn = Omit<LineChartProps, 'label'> & { theme: ChartTheme };

function drawLines({ steps, lines, format, theme: { colour, axis, timeZone, isDark } }: Drawn): Drawing {
  const isLong = steps.length > 1 && Date.parse(steps.at(-1)!) - Date.parse(steps[0]!) > 2 * 86_400_000;
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...(isLong ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' }),
  } as Intl.DateTimeFormatOptions);
  const isWhole = lines.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  return {
    options: {
      cursor: { y: false },
      legend: {
        live: true,
        markers: { fill: (_chart: unknown, series: number) => colour(lineColour(lines[series - 1]!, isDark)) },
      },
      scales: { y: { range: (_chart, _least, most) => [0, Math.max((most ?? 0) * 1.1, 0.1)] } },
      axes: [
        {
          ...axis,
          size: 30,
          grid: { show: false },
          values: (_chart, times) => times.map((time) => clock.format(time * 1000)),
        },
        // Integers have no ticks at halves, which would be rounded to the next label.
        { ...axis, size: 60, ...(isWhole && { incrs: wholeSteps }), values: (_chart, values) => values.map(format) },
      ],
      series: [
        timeSeries(timeZone),
        ...lines.map((one) => ({
          label: one.label,
          stroke: colour(lineColour(one, isDark)),
          width: 2,
          // A single value between two gaps makes no line, so it is drawn as a point.
          points: {
            show: true,
            size: 6,
            fill: colour(lineColour(one, isDark)),
            filter: (chart: UPlot, series: number) => alone(chart.data[series]!),
          },
          value: (_chart: unknown, value: number | null) => (value === null ? '' : format(value)),
        })),
      ],
    },
    data: [steps.map((at) => Date.parse(at) / 1000), ...lines.map(({ values }) => [...values])] as Drawing['data'],
  };
}

function lineColour({ colour }: ChartLine, isDark: boolean): string {
  return `--mantine-color-${colour}-${isDark ? 4 : 7}`;
}

/** The indexes of values without neighbours. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined;
  return Array.from(values, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  );
}
