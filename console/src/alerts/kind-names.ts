import type { AlertKind } from '../api/generated/alerts.ts';

export const kindNames: Record<AlertKind, string> = {
  provider: 'Provider refuses',
  queue: 'Queue ages',
  node: 'No sending node',
  job: 'Job fails',
  credential: 'Key ends',
  backup: 'Backup late',
  certificate: 'Certificate ends',
};
