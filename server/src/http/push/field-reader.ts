import { ServiceError } from '../../domain/errors.ts';
import { isTemplate, templateFault } from '../../domain/template/template-mode.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';

/**
 * Reads the members of a request and notes what is wrong with them. A member of the wrong kind reads as absent, so the
 * whole request is looked at and the refusal that comes first in decision D31 can be given: a list or value that is not
 * allowed before any other fault.
 */
export type FieldReader = {
  record(value: unknown, field: string): Record<string, unknown> | undefined;
  text(value: unknown, field: string, rule?: TextRule): string | undefined;
  requiredText(value: unknown, field: string, rule?: TextRule): string;
  /** A text that may be a template; one that is none is refused. */
  template(value: unknown, field: string, rule?: TextRule): string | undefined;
  requiredTemplate(value: unknown, field: string, rule?: TextRule): string;
  /** A web address, which a template becomes for each person; what it becomes is looked at then. */
  templateUrl(value: unknown, field: string, schemes: readonly string[]): string | undefined;
  /** A text that is the same for everybody, and so no template. */
  plain(value: unknown, field: string, rule?: TextRule): string | undefined;
  choice<const C extends string | number>(value: unknown, field: string, choices: readonly C[]): C | undefined;
  list(value: unknown, field: string, maxItems: number): unknown[] | undefined;
  boolean(value: unknown, field: string): boolean | undefined;
  integer(value: unknown, field: string, range: { minimum: number; maximum: number }): number | undefined;
  url(value: unknown, field: string, schemes: readonly string[]): string | undefined;
  notAllowed(field: string): void;
  invalid(field: string, reason: string): void;
  /** @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID */
  throwFirst(): void;
};

export type TextRule = { longest?: number };

// A provider's whole message has 4,096 bytes; a text beyond this can never be sent.
const usualLongest = 4_096;

export function makeFieldReader(templates: TemplateMode = 'OFF'): FieldReader {
  let firstNotAllowed: string | undefined;
  let firstInvalid: { field: string; reason: string } | undefined;

  const reader: FieldReader = {
    notAllowed(field) {
      firstNotAllowed ??= field;
    },
    invalid(field, reason) {
      firstInvalid ??= { field, reason };
    },
    throwFirst() {
      if (firstNotAllowed !== undefined) throw new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field: firstNotAllowed });
      if (firstInvalid) throw new ServiceError('PUSH_PARAMETER_INVALID', firstInvalid);
    },
    record(value, field) {
      if (value === undefined) return undefined;
      if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
      reader.invalid(field, 'must be an object');
      return undefined;
    },
    text(value, field, { longest = usualLongest } = {}) {
      if (value === undefined) return undefined;
      if (typeof value !== 'string') reader.invalid(field, 'must be a text');
      else if (!value.isWellFormed()) reader.invalid(field, 'must be well-formed Unicode');
      else if (value.length > longest) reader.invalid(field, `must have at most ${longest} characters`);
      else return value;
      return undefined;
    },
    requiredText(value, field, rule) {
      if (value === undefined || value === '') reader.invalid(field, 'is required');
      return reader.text(value, field, rule) ?? '';
    },
    template(value, field, rule) {
      const text = reader.text(value, field, rule);
      const fault =
        text === undefined ? undefined : templateFault(text, { mode: templates, sources: ['UserAttribute'] });
      if (fault !== undefined) reader.invalid(field, fault);
      return text;
    },
    requiredTemplate(value, field, rule) {
      if (value === undefined || value === '') reader.invalid(field, 'is required');
      return reader.template(value, field, rule) ?? '';
    },
    templateUrl(value, field, schemes) {
      if (typeof value !== 'string' || !isTemplate(value, templates)) return reader.url(value, field, schemes);
      return reader.template(value, field, { longest: 2_048 });
    },
    plain(value, field, rule) {
      const text = reader.text(value, field, rule);
      if (text !== undefined && isTemplate(text, templates)) reader.invalid(field, 'cannot be a template');
      return text;
    },
    choice(value, field, choices) {
      if (value === undefined) return undefined;
      const found = choices.find((choice) => choice === value);
      if (found === undefined) reader.notAllowed(field);
      return found;
    },
    list(value, field, maxItems) {
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) {
        reader.notAllowed(field);
        return undefined;
      }
      if (value.length > maxItems) reader.invalid(field, `must have at most ${maxItems} items`);
      return value;
    },
    boolean(value, field) {
      if (value === undefined) return undefined;
      if (value === true || value === 'true') return true;
      if (value === false || value === 'false') return false;
      reader.invalid(field, 'must be true or false');
      return undefined;
    },
    integer(value, field, { minimum, maximum }) {
      if (value === undefined) return undefined;
      if (Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum)
        return value as number;
      reader.invalid(field, `must be a whole number from ${minimum} to ${maximum}`);
      return undefined;
    },
    url(value, field, schemes) {
      const text = reader.text(value, field, { longest: 2_048 });
      if (text === undefined) return undefined;
      if (URL.canParse(text) && schemes.includes(new URL(text).protocol)) return text;
      reader.invalid(field, `must be a URL with ${schemes.map((scheme) => scheme.replace(':', '')).join(' or ')}`);
      return undefined;
    },
  };
  return reader;
}
