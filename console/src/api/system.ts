import type { ConsoleCaller } from './console-caller.ts';

export type MetricSpan = 'hour' | 'day' | 'week';

export function makeSystemCalls({ ask }: ConsoleCaller) {
  return {
    read: (workspaceId: string) => ask('GET system', { query: { workspaceId } }),
    /** What the nodes of the installation counted. */
    readMetrics: (query: { workspaceId: string; span: MetricSpan }) => ask('GET metrics', { query }),
  };
}
