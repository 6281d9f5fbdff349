import type { AlertKind } from './condition.ts';

/** The page of docs/runbooks for each kind: that of the alert of Prometheus that says the same. */
export const runbookNames: Record<AlertKind, string> = {
  provider: 'CarillonCredentialRefused',
  queue: 'CarillonNamedSendsLate',
  node: 'CarillonNoSendingNode',
  job: 'CarillonJobFails',
  credential: 'CarillonWorkspaceAlert',
  backup: 'CarillonBackupLate',
  certificate: 'CarillonWorkspaceAlert',
};

/** Where a node shows it; null where nobody said by which origin nodes are reached. */
export function runbookOf(kind: AlertKind, origin: string | undefined): string | null {
  return origin === undefined ? null : `${origin}/docs/runbooks/${runbookNames[kind].toLowerCase()}/`;
}
