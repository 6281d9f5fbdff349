import { RenderError } from './render-error.ts';

/**
 * How much one rendering may do. A step is one operation, 64 characters that it reads, or 16 characters or items that
 * it makes: every operation pays for its size before it begins, so neither time nor memory depends on what a template asks for.
 * Measured: all of it is spent within a third of a millisecond (docs/decisions/0019).
 */
export const maxSteps = 5_000;

/** Longest text that a rendering may make at any point; a provider takes 4,096 bytes. */
export const maxCharacters = 8_192;

const maxNumber = 30;

export class Budget {
  #left = maxSteps;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new RenderError('LIMIT', `takes more than ${maxSteps} steps`);
  }

  /** Pays for reading so many characters. */
  read(characters: number): void {
    this.spend(1 + (characters >>> 6));
  }

  /** Pays for a text of so many characters that is about to be made. */
  make(characters: number): void {
    if (characters > maxCharacters)
      throw new RenderError('LIMIT', `makes a text of more than ${maxCharacters} characters`);
    this.spend(1 + (characters >>> 4));
  }

  /** Pays for reading or making a list of so many items. */
  list(items: number): void {
    this.spend(1 + (items >>> 4));
  }

  number(value: number): string {
    this.spend(1);
    if (!Number.isFinite(value)) throw new RenderError('UNKNOWN', 'a number became too large');
    return String(value === 0 ? 0 : value).slice(0, maxNumber);
  }
}
