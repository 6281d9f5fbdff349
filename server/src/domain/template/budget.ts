import { maxRenderedCharacters, maxTemplateSteps } from './limits.ts';

export class Budget {
  #left = maxTemplateSteps;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new RenderError('LIMIT', `takes more than ${maxTemplateSteps} steps`);
  }

  /** Pays for reading so many characters. */
  read(characters: number): void {
    this.spend(1 + (characters >>> 6));
  }

  /** Pays for a text of so many characters that is about to be made. */
  make(characters: number): void {
    if (characters > maxRenderedCharacters)
      throw new RenderError('LIMIT', `makes a text of more than ${maxRenderedCharacters} characters`);
    this.spend(1 + (characters >>> 4));
  }

  /** Pays for reading or making a list of so many items. */
  list(items: number): void {
    this.spend(1 + (items >>> 4));
  }

  number(value: number): string {
    this.spend(1);
    if (!Number.isFinite(value)) throw new RenderError('UNKNOWN', 'a number became too large');
    return String(value === 0 ? 0 : value);
  }
}

/**
 * Why a text could not be made for a person (fact 3.8). `RESULT`: it was made, and is not what its place needs, such as
 * a web address.
 */
export type RenderCause =
  'USER_ATTRIBUTE' | 'EVENT_ATTRIBUTE' | 'BUSINESS_EVENT_ATTRIBUTE' | 'UNDEFINED' | 'LIMIT' | 'RESULT' | 'UNKNOWN';

/** Ends one rendering. Thrown and caught only in this folder; renderTemplate returns a value. */
export class RenderError extends Error {
  readonly renderCause: RenderCause;

  constructor(renderCause: RenderCause, reason: string) {
    // A stack costs more than most renderings, and tells nobody anything.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(reason);
    Error.stackTraceLimit = limit;
    this.renderCause = renderCause;
  }
}
