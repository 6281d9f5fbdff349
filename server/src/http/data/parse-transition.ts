import type { DataUse } from '../../app/data/data-limits.ts';
import type { BulkElement, ElementFault } from '../../app/data/take-bulk.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { DataBody } from './data-call.ts';
import { invalid, missing, parseCustomer, parseDevice, requireType } from './parse-data.ts';
import { countActions, parseEvents } from './parse-event.ts';
import { isAbsent } from '../is-absent.ts';

export type ParsedTransition = {
  elements: BulkElement[];
  /** Elements that are not understood; the others are taken. */
  faults: ElementFault[];
};

/** What a bulk request asks to be counted: users and devices together, events by their actions. */
export function countElements(body: unknown): DataUse[] {
  const elements: unknown = (body as DataBody | null | undefined)?.elements;
  const given = Array.isArray(elements) ? (elements as (DataBody | null)[]) : [];
  const events = given.filter((element) => element?.type === 'event');
  return [
    { operation: 'data-bulk-users', wanted: given.length - events.length },
    { operation: 'data-bulk-events', wanted: events.reduce((sum, element) => sum + countActions(element), 0) },
  ];
}

/** @throws ServiceError DATA_ATTRIBUTE_MISSING, DATA_VALUE_INVALID for the request as a whole */
export function parseTransition(body: DataBody, prefixes: readonly string[]): ParsedTransition {
  requireType(body, 'transition');
  if (isAbsent(body.elements)) throw missing('elements');
  if (!Array.isArray(body.elements)) throw invalid('elements', 'must be a list');
  const parsed: ParsedTransition = { elements: [], faults: [] };
  body.elements.forEach((element: unknown, index) => {
    try {
      parsed.elements.push({ index, ...parseElement(element, prefixes) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      parsed.faults.push({ index, error });
    }
  });
  return parsed;
}

function parseElement(element: unknown, prefixes: readonly string[]) {
  if (element === null || typeof element !== 'object' || Array.isArray(element))
    throw invalid('elements', 'must be a list of objects');
  const object = element as DataBody;
  switch (object.type) {
    case 'customer':
      return { kind: 'customer' as const, command: parseCustomer(object, prefixes) };
    case 'device':
      return { kind: 'device' as const, command: parseDevice(object, prefixes) };
    case 'event':
      return { kind: 'event' as const, command: parseEvents(object, prefixes) };
    default:
      throw isAbsent(object.type) ? missing('type') : invalid('type', "must be 'customer', 'event' or 'device'");
  }
}
