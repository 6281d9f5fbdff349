import type { FilterSegmentCommand, FilterTreesCommand, GivenFilters } from '../../app/segments/filter-segments.ts';
import type { SyncCohortCommand } from '../../app/segments/sync-cohort.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { parseSegmentFilter } from '../../domain/segments/parse-segment-filter.ts';
import { parseStoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import type { FilterFaultCode } from '../../domain/segments/filter-members.ts';
import type { StoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import { maxSegmentNameCharacters } from '../../domain/segments/limits.ts';
import { isAbsent, isBlank } from '../is-absent.ts';

type Body = Record<string, unknown>;

const faultNames: Record<FilterFaultCode, ErrorName> = {
  invalid: 'SEGMENT_FILTERS_INVALID',
  unavailable: 'SEGMENT_FILTERS_INVALID',
  'too-deep': 'SEGMENT_QUERY_TOO_DEEP',
  'too-many-segments': 'SEGMENT_QUERY_TOO_MANY_SEGMENTS',
  'too-long': 'SEGMENT_QUERY_TOO_LONG',
};

/** A command, and the members of its filters that nobody knows (decision D5). */
export type ParsedFilterSegment = { command: FilterSegmentCommand; unknownFields: string[] };

/** @throws ServiceError SEGMENT_BODY_INVALID, SEGMENT_FILTERS_INVALID, SEGMENT_QUERY_… */
export function parseFilterSegment(body: Body): ParsedFilterSegment {
  const { unknownFields, ...trees } = parseFilterTrees(body);
  return { command: { name: parseFilterName(body.name), ...trees }, unknownFields };
}

/** The trees alone: filters that have no name yet. @throws as above */
export function parseFilterTrees(body: Body): FilterTreesCommand & { unknownFields: string[] } {
  const unknownFields: string[] = [];
  const included = parseFilters(body.included_filters, 'included_filters', unknownFields);
  if (!included) throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'included_filters is missing' });
  const excluded = parseFilters(body.excluded_filters, 'excluded_filters', unknownFields);
  return { included, excluded, unknownFields };
}

/** The same for a change: what is not sent stays. @throws as above */
export function parseFilterChange(body: Body): {
  change: (present: StoredFilters & { name: string }) => FilterSegmentCommand;
  updatedBy: string | undefined;
  unknownFields: string[];
} {
  const unknownFields: string[] = [];
  const name = isAbsent(body.name) ? undefined : parseFilterName(body.name);
  const included = parseFilters(body.included_filters, 'included_filters', unknownFields);
  const excluded = parseFilters(body.excluded_filters, 'excluded_filters', unknownFields);
  return {
    updatedBy: parseUpdatedBy(body.updated_by),
    unknownFields,
    change(present) {
      const trees = parseStoredFilters(present);
      const kept = trees.excluded && { sent: present.excludedFilters, filter: trees.excluded };
      return {
        name: name ?? present.name,
        included: included ?? { sent: present.includedFilters, filter: trees.included },
        excluded: body.excluded_filters === null ? undefined : (excluded ?? kept),
      };
    },
  };
}

function parseFilters(sent: unknown, field: string, unknownFields: string[]): GivenFilters | undefined {
  if (isAbsent(sent)) return undefined;
  const parsed = parseSegmentFilter(sent);
  if ('fault' in parsed)
    throw new ServiceError(faultNames[parsed.fault.code], {
      field,
      reason: parsed.fault.reason,
      detail: parsed.fault.reason,
    });
  unknownFields.push(...parsed.unknownFields.map((path) => `${field}.${path}`));
  return { sent, filter: parsed.filter };
}

function parseFilterName(value: unknown): string {
  const refuse = (detail: string): never => {
    throw new ServiceError('SEGMENT_FILTERS_INVALID', { field: 'name', reason: detail, detail });
  };
  if (typeof value !== 'string')
    throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'name is missing or no text' });

  if (!value.isWellFormed() || /[\u0000-\u001f\u007f<>]/.test(value))
    return refuse('the name holds markup or controls');
  const name = value.trim();
  if (name === '' || name.length > maxSegmentNameCharacters)
    return refuse(`the name is blank or longer than ${maxSegmentNameCharacters} characters`);
  return name;
}

function parseUpdatedBy(value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  if (typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) && value.length <= 254) return value;
  throw new ServiceError('SEGMENT_BODY_INVALID', { detail: 'updated_by must be an e-mail address' });
}

const maxCohortText = 256;

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID (fact 2.4: the shape of the data family) */
export function parseCohort(body: Body): Omit<SyncCohortCommand, 'workspaceId' | 'requestedBy'> {
  const { action, parameters } = body;
  if (isAbsent(action)) throw missing('action');
  if (action !== 'add_members' && action !== 'remove_members')
    throw wrong('action', "must be 'add_members' or 'remove_members'");
  if (isAbsent(parameters)) throw missing('parameters');
  if (typeof parameters !== 'object' || Array.isArray(parameters)) throw wrong('parameters', 'must be an object');
  const inner = parameters as Body;
  const cohortName = cohortText(inner.cohort_name, 'cohort_name').trim();
  if (cohortName === '' || cohortName.startsWith('.') || /[|*?\\:<>=$"]/.test(cohortName))
    throw wrong('cohort_name', 'must not start with . nor contain | * ? \\ : < > = $ "');
  if (!isBlank(inner.cohort_description)) cohortText(inner.cohort_description, 'cohort_description');
  return {
    action,
    partner: cohortText(body.partner, 'partner'),
    cohortId: cohortText(inner.cohort_id, 'cohort_id'),
    cohortName,
    members: cohortMembers(inner.members),
  };
}

function cohortMembers(value: unknown): string[] {
  if (isAbsent(value)) throw missing('members');
  if (!Array.isArray(value)) throw wrong('members', 'must be a list');
  return value.map((member: unknown) => {
    const uid = (member as { uid?: unknown } | null)?.uid;
    if (typeof uid !== 'string' || uid === '' || uid.length > 512 || !isStorableText(uid))
      throw wrong('members', "must hold objects with a text 'uid'");
    return uid;
  });
}

function cohortText(value: unknown, field: string): string {
  if (isBlank(value)) throw missing(field);
  if (typeof value !== 'string' || value.length > maxCohortText)
    throw wrong(field, `must be a text of at most ${maxCohortText} characters`);

  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value))
    throw wrong(field, 'must be one line of well-formed Unicode');
  return value;
}

function missing(field: string): ServiceError {
  return new ServiceError('DATA_ATTRIBUTE_MISSING', { field });
}

function wrong(field: string, reason: string): ServiceError {
  return new ServiceError('DATA_VALUE_INVALID', { field, reason });
}
