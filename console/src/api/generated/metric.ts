// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

/** A value for each step; null: nothing was told of it. */
export type MetricSeries = {
  name: string;
  values: (number | null)[];
};

/** What the nodes of the installation counted, over all workspaces. */
export type Metrics = {
  stepSeconds: number;
  steps: string[];
  series: MetricSeries[];
};
