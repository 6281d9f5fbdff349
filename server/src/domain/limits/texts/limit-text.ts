import type { ErrorName } from '../../errors.ts';

/** What a limit counts together: the requests of one workspace, of one key, of one source address … */
export type LimitScope =
  | 'workspace'
  | 'key'
  | 'credential pair'
  | 'source address'
  | 'account'
  | 'user'
  | 'device'
  | 'campaign'
  | 'segment'
  | 'live activity'
  | 'message'
  | 'request'
  | 'value'
  | 'provider account'
  | 'installation';

/** Where a limit comes from: an anchor of docs/spec, or nowhere but here. */
export type LimitSource = 'ours' | `${'interface' | 'decision' | 'fact' | 'fault' | 'delivery'} ${string}`;

/** What is documented of a limit beside its number, which is the constant's own. */
export type LimitText = {
  what: string;
  unit: string;
  per: LimitScope;
  /** The error that is answered, or a sentence on what happens instead. */
  whenReached: ErrorName | `${string}.`;
  source: LimitSource;
  /** The variable that sets another value than the constant. */
  setting?: `CARILLON_${string}`;
};

/** A text for each constant of a noun's limits, no more and no less. */
export type LimitTexts<Constants> = Readonly<Record<keyof Constants, LimitText>>;
