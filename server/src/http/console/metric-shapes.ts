import { Type } from 'typebox';
import { described, orNull } from './shape-parts.ts';

export const MetricSeries = described(
  Type.Object({ name: Type.String(), values: Type.Array(orNull(Type.Number())) }),
  'A value for each step; null: nothing was told of it.',
);

export const Metrics = described(
  Type.Object({
    stepSeconds: Type.Number(),
    steps: Type.Array(Type.String()),
    series: Type.Array(MetricSeries),
  }),
  'What the nodes of the installation counted, over all workspaces.',
);
