import type { ProviderName } from '../delivery/provider-name.ts';

/** What an alert may be about; a workspace may be told of each or not. */
export const alertKinds = ['provider', 'queue', 'node', 'job', 'credential', 'backup', 'certificate'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Something that keeps messages from people, soon will, or would lose what they were sent: true or not at each look. */
export type Condition = {
  kind: AlertKind;
  /** Which provider, job, key or certificate. */
  subject: string;
  what: string;
  /** What a person does about it. */
  todo: string;
  /** The provider that may take its credential again when it is asked. */
  recheck?: ProviderName;
};

export type Alert = Omit<Condition, 'recheck'> & {
  id: string;
  workspaceId: string;
  openedAt: Date;
  /** Null: it is still so. */
  closedAt: Date | null;
};
