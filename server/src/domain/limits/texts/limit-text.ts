import type { ErrorName } from '../../errors.ts';

/** The scope that a limit counts over: the requests of one workspace, of one key, of one source address … */
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

/** The source of a limit: an anchor of docs/spec, or `ours`. */
export type LimitSource = 'ours' | `${'interface' | 'decision' | 'fact' | 'fault' | 'delivery'} ${string}`;

/** The documentation of a limit, in addition to its number, which is the constant's own. */
export type LimitText = {
  what: string;
  unit: string;
  per: LimitScope;
  /** The error in the response, or a sentence about what happens instead. */
  whenReached: ErrorName | `${string}.`;
  source: LimitSource;
  /** The environment variable that overrides the constant. */
  setting?: `CARILLON_${string}`;
};

/** Exactly one text for each constant of a noun's limits. */
export type LimitTexts<Constants> = Readonly<Record<keyof Constants, LimitText>>;
