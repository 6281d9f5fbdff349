/**
 * The rules by which a route family reads a body: which values count as sent, which spellings of a value are accepted, and how a
 * fault is reported. The texts of faults are part of the contract of each family.
 */
export type ReadingRules = {
  /** `all` reports every fault; `first` reports one, a value that is not allowed before any other (decision D31). */
  reports: 'first' | 'all';
  /** A member that is not sent reads as undefined and is not a fault. */
  isSent(value: unknown): boolean;
  /** True if a value counts as absent where a member is required. */
  isAbsent(value: unknown): boolean;
  missing: 'missing' | 'is required';
  maxTextCharacters: number;
  textFault(text: string, maxCharacters: number): string | undefined;
  /** The fault of a value that is not a text. Absent: "must be a text". */
  notTextFault?(maxCharacters: number): string;
  /** Undefined for a value that is not a flag. */
  toFlag(value: unknown): boolean | undefined;
  toNumber(value: unknown): unknown;
  /** Returns the text of a value chosen by the caller, such as one of its pairs; any other value unchanged. */
  toPairText(value: unknown): unknown;
  isChoice(value: unknown, word: string | number): boolean;
  choiceFault(value: unknown, words: readonly (string | number)[]): Fault;
  listFault(value: unknown, maxItems: number): Fault | undefined;
  /**
   * Returns the fault of a flag that does not have the only supported value (docs/decisions/0008). Undefined: the other value is
   * accepted, with a warning.
   */
  onlyFault(value: boolean): string | undefined;
  /** If true, media of an unknown kind are left out with a warning. Otherwise they are a fault. */
  dropsUnknownMedia?: true;
  templates: TemplateRules;
};

/** What counts as a template in a body, and why a template is rejected. */
export type TemplateRules = {
  isTemplate(text: string): boolean;
  /** Undefined for a valid template, and for a text that is not a template. */
  fault(text: string): string | undefined;
};

/** The rules of bodies in which nothing is rendered for a user. */
export const noTemplates: TemplateRules = { isTemplate: () => false, fault: () => undefined };

/** A field that is missing, or the reason why its value is rejected ("must be a text"). */
export type RequestFault = {
  field: string;
  reason: 'missing' | (string & {});
  /** The error that reports this fault; absent if it is the family's usual error. */
  error?: Error;
};

/** Marks a list or value that the interface does not allow. One family reports it with a separate error. */
export const notAllowed = Symbol('not allowed');
export type Fault = string | typeof notAllowed;

/** The fault of a feature that this deployment does not have (decision D30). */
export const unavailable = 'is not available in this version';

/**
 * The base rules of a family that reports one fault and renders no templates. Each value must have its JSON type, and null counts
 * as not sent.
 */
export const plainRules: ReadingRules = {
  reports: 'first',
  isSent: (value) => value !== undefined && value !== null,
  isAbsent: (value) => value === undefined || value === null,
  missing: 'missing',
  maxTextCharacters: 512,
  textFault(text, maxCharacters) {
    if (!text.isWellFormed()) return 'must be well-formed Unicode';
    return text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : undefined;
  },
  toFlag: (value) => (typeof value === 'boolean' ? value : undefined),
  toNumber: (value) => value,
  toPairText: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: (_value, words) => `must be ${words.join(' or ')}`,
  listFault(value, maxItems) {
    if (!Array.isArray(value)) return 'must be a list';
    return value.length > maxItems ? `must have at most ${maxItems} entries` : undefined;
  },
  onlyFault: () => undefined,
  templates: noTemplates,
};

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Like plainRules, but an empty text also counts as not sent, because forms and files send it for an empty field. */
export const plainRulesOfForms: ReadingRules = {
  ...plainRules,
  isSent: isFilled,
  isAbsent: (value) => !isFilled(value),
};
