import type { TemplateMode } from '../template/template-mode.ts';
import type { SourceName } from '../template/template-syntax.ts';

/**
 * What differs between the families of routes that read a body member by member: what counts as sent, which spellings of
 * a value are taken, and how a fault is told. The words are a part of each family's contract.
 */
export type ReadingRules = {
  /** `all` tells every fault; `first` tells one, a value that is not allowed before any other (decision D31). */
  tells: 'first' | 'all';
  /** A member that is not sent reads as undefined and is no fault. */
  isSent(value: unknown): boolean;
  /** What counts as absent where a member is required. */
  isAbsent(value: unknown): boolean;
  missing: 'missing' | 'is required';
  maxTextCharacters: number;
  textFault(text: string, maxCharacters: number): string | undefined;
  /** Undefined for a value that is no flag. */
  toFlag(value: unknown): boolean | undefined;
  toNumber(value: unknown): unknown;
  /** The text of a value of the caller's own, such as one of its pairs; anything else as it came. */
  toPairText(value: unknown): unknown;
  isChoice(value: unknown, word: string | number): boolean;
  choiceFault(value: unknown, words: readonly (string | number)[]): Fault;
  listFault(value: unknown, maxItems: number): Fault | undefined;
  /**
   * Why a flag must have the one value that asks for what happens anyway (docs/decisions/0008); undefined: the other is
   * taken, with a warning.
   */
  onlyFault(value: boolean): string | undefined;
  templates: { mode: TemplateMode; sources: readonly SourceName[] };
};

/** A list or value that the interface does not allow, which one family tells with an error of its own. */
export const notAllowed = Symbol('not allowed');
export type Fault = string | typeof notAllowed;

/** What this deployment does not do, said the same way everywhere (decision D30). */
export const unavailable = 'is not available in this version';
