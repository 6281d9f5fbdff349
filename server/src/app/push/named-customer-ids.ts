import { identifierOf } from '../../domain/users/identifier.ts';
import { maxSelectorValues } from '../../domain/push/limits.ts';

/**
 * The customer ids that `targetUserAttributes` names, before it is parsed, so that they can be looked for while the request
 * is counted. What parsing makes of them decides: where it reads others, those are looked for.
 */
export function namedCustomerIds(sent: unknown): string[] | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined;
  const { attribute, attributeValue, isCustom } = sent as Record<string, unknown>;
  if (typeof attribute !== 'string') return undefined;
  if (identifierOf(attribute, { isCustom: isCustom === true || isCustom === 'true' })?.kind !== 'customer-id')
    return undefined;
  const values: unknown[] = Array.isArray(attributeValue) ? attributeValue : [attributeValue];
  return values.length <= maxSelectorValues && values.every(isText) ? values : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
