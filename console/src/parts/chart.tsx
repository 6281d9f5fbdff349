import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import styles from './chart.module.css';
import { useWorkspace } from '../shell/workspace.ts';

export type ChartTheme = {
  /** The value of a variable of the theme, such as `--mantine-color-red-6`. */
  colour: (name: string) => string;
  axis: UPlot.Axis;
  timeZone: string;
  isDark: boolean;
};

export type Drawing = { options: Omit<UPlot.Options, 'width' | 'height' | 'tzDate'>; data: UPlot.AlignedData };

type ChartProps = {
  label: string;
  height: number;
  /** What it is made of, as text: the page asks every few seconds, and what did not change is not drawn anew. */
  drawn: string;
  draw: (theme: ChartTheme) => Drawing;
};

/** A picture over time in the zone of the workspace, as wide as its place; what stands beside it says the same in words. */
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

/** How the legend says the time below the mouse; nothing while it is elsewhere. */
export function timeSeries(timeZone: string): UPlot.Series {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  return { label: '', value: (_chart, time) => (time === null ? '' : `${clock.format(time * 1000)} ${timeZone}`) };
}
