// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

/** A problem that is blocking delivery, or may soon, with its start and end. */
export type Alert = {
  id: string;
  workspaceId: string;
  kind: AlertKind;

  /** The provider, job or key that the alert is about. */
  subject: string;
  what: string;

  /** What an operator can do about it. */
  todo: string;
  openedAt: string;

  /** Null while the problem exists. */
  closedAt: string | null;
};

export type AlertKind = 'provider' | 'queue' | 'node' | 'job' | 'credential' | 'backup' | 'certificate';

/** The receivers of the alerts of a workspace. */
export type AlertSettings = {
  webhookUrl: string | null;
  emails: string[];
  mutedKinds: AlertKind[];
};

/** The name of each kind, and the screen that its alerts link to. */
export const alertKinds: Record<AlertKind, { label: string; screen: 'providers' | 'system' | 'keys' }> = {
  provider: { label: 'Provider rejects messages', screen: 'providers' },
  queue: { label: 'Queue delayed', screen: 'system' },
  node: { label: 'No sending node', screen: 'system' },
  job: { label: 'Job failing', screen: 'system' },
  credential: { label: 'Key expires', screen: 'keys' },
  backup: { label: 'Backup late', screen: 'system' },
  certificate: { label: 'Certificate expires', screen: 'system' },
};
