import { ServiceError } from '../../domain/errors.ts';

/** A form body: read by name, so that a field that appears twice is noticed. */
export type Form = {
  /**
   * The value of a field; a field without a value counts as absent (RFC 6749 §3.2).
   *
   * @throws ServiceError TOKEN_FIELD_REPEATED
   */
  read(name: string): string | undefined;
  /** Names that are not among the known ones, at most 20. */
  unknownNames(known: readonly string[]): string[];
};

/** @param text the body as it was sent: `application/x-www-form-urlencoded`, UTF-8 */
export function parseForm(text: string): Form {
  const fields = new URLSearchParams(text);
  return {
    read(name) {
      const values = fields.getAll(name).filter((value) => value !== '');
      if (values.length > 1) throw new ServiceError('TOKEN_FIELD_REPEATED', { field: name });
      return values[0];
    },
    unknownNames(known) {
      const names = [...new Set(fields.keys())].filter((name) => !known.includes(name));
      // A longer name may be a secret that was pasted without its name; warnings end in the log.
      return names.slice(0, 20).map((name) => (/^[A-Za-z0-9_.-]{1,32}$/.test(name) ? name : '(unreadable)'));
    },
  };
}
