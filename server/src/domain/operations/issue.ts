import type { Platform } from '../content/content.ts';
import type { ProviderName } from '../delivery/providers.ts';

/** One problem that an operator should know of: a condition (conditions.ts) that is currently true. */
export type Issue = {
  /** `trouble`: messages are not being sent. `attention`: messages will not be sent, or something is worse than usual. */
  level: 'trouble' | 'attention';
  what: string;
  /** What the operator should do. */
  todo: string;
  place: IssuePlace;
  /** Set if the issue opens an alert. */
  alert?: IssueAlert;
};

/** An issue that opens no alert. */
export type ShownIssue = Omit<Issue, 'alert'> & { alert?: never };

/** The alert that an issue opens. Its texts replace those of the overview: an email is read away from the console. */
export type IssueAlert = {
  /** The provider, job, key or certificate. Does not change while the problem lasts. */
  subject: string;
  what?: string;
  todo?: string;
  /** The provider to recheck, because it may accept its credential again. */
  recheck?: ProviderName;
};

/** The page to link to, where the operator can inspect or fix the problem. */
export type IssuePlace =
  | { screen: 'system' | 'providers' | 'segments' | 'log' | 'keys' }
  | { screen: 'campaign'; campaignId: string }
  | { screen: 'deliveries'; platform: Platform; outcome: string; code: string };
