import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../domain/errors.ts';
import { parseIsoTime } from '../../domain/segments/iso-time.ts';

export type Body = Record<string, unknown>;

/** Reads the members of a request and notes all that is wrong; what is wrong reads as not sent, like null. */
export type CampaignReader = {
  integer(value: unknown, field: string, range: { minimum: number; maximum: number }): number | undefined;
  text(value: unknown, field: string): string | undefined;
  flag(value: unknown, field: string): boolean | undefined;
  record(value: unknown, field: string): Body | undefined;
  texts(value: unknown, field: string): string[] | undefined;
  choices<const C extends string>(value: unknown, field: string, words: readonly C[]): C[] | undefined;
  /** The beginning of a day or an instant, and the first moment after it. */
  moment(value: unknown, field: string): { startsAt: Date; endsBefore: Date } | undefined;
  missing(field: string): void;
  invalid(field: string, reason: string): void;
  /** @throws ServiceError CAMPAIGN_REQUEST_INVALID */
  throwFaults(): void;
};

const maxText = 256;
const maxItems = 100;
const dayMilliseconds = 86_400_000;

export function makeCampaignReader(): CampaignReader {
  const faults: RequestFault[] = [];
  const isSent = (value: unknown): boolean => value !== undefined && value !== null;
  const reader: CampaignReader = {
    missing: (field) => void faults.push({ field, reason: 'missing' }),
    invalid: (field, reason) => void faults.push({ field, reason }),
    throwFaults() {
      if (faults.length > 0) throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults, detail: describe(faults) });
    },
    integer(value, field, { minimum, maximum }) {
      if (!isSent(value)) return undefined;
      if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum)
        return value as number;
      reader.invalid(field, `must be a whole number from ${minimum} to ${maximum}`);
      return undefined;
    },
    text(value, field) {
      if (!isSent(value)) return undefined;
      const fault = textFault(value);
      if (fault === undefined) return value as string;
      reader.invalid(field, fault);
      return undefined;
    },
    flag(value, field) {
      if (!isSent(value)) return undefined;
      if (typeof value === 'boolean') return value;
      reader.invalid(field, 'must be true or false');
      return undefined;
    },
    record(value, field) {
      if (!isSent(value)) return undefined;
      if (typeof value === 'object' && !Array.isArray(value)) return value as Body;
      reader.invalid(field, 'must be an object');
      return undefined;
    },
    texts(value, field) {
      if (!isSent(value)) return undefined;
      if (!Array.isArray(value) || value.length === 0 || value.length > maxItems)
        reader.invalid(field, `must be a list of 1 to ${maxItems} texts`);
      else if (value.some((item) => textFault(item) !== undefined))
        reader.invalid(field, `must hold texts of 1 to ${maxText} characters`);
      else return [...new Set(value as string[])];
      return undefined;
    },
    choices(value, field, words) {
      const found = reader.texts(value, field);
      if (found === undefined) return undefined;
      const known = words.filter((word) => found.includes(word));
      if (known.length === found.length) return known;
      reader.invalid(field, `must hold only ${words.join(', ')}`);
      return undefined;
    },
    moment(value, field) {
      if (!isSent(value)) return undefined;
      const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
      const startsAt = time && (time.kind === 'day' ? time.startsAt : time.at);
      // What a database can hold also a day later, and no campaign is older.
      if (startsAt && startsAt.getUTCFullYear() >= 1970 && startsAt.getUTCFullYear() < 9999)
        return { startsAt, endsBefore: new Date(startsAt.getTime() + (time.kind === 'day' ? dayMilliseconds : 1)) };
      reader.invalid(field, 'must be a date (YYYY-MM-DD) or a date and time (YYYY-MM-DDThh:mm:ss)');
      return undefined;
    },
  };
  return reader;
}

function textFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text';
  if (value === '' || value.length > maxText) return `must have 1 to ${maxText} characters`;
  if (!value.isWellFormed()) return 'must be well-formed Unicode';
  return undefined;
}

function describe(faults: RequestFault[]): string {
  return faults.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
}
