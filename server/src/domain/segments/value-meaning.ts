import { identifierOf } from '../users/identifier.ts';

/** How a file's values name users: by customer id, or by an attribute of a type. */
export type ValueMeaning =
  { kind: 'customer-id' } | { kind: 'attribute'; attribute: string; type: 'string' | 'double' };

type NamedBy = { attributeName: string; attributeType: 'string' | 'double' };

/** What the values of a file are: the attribute is the sender's word, or one of the push API's. */
export function valueMeaningOf({ attributeName, attributeType }: NamedBy): ValueMeaning {
  const standard = identifierOf(attributeName, { isCustom: false });
  if (attributeName === 'customer_id' || attributeName === 'uid' || standard?.kind === 'customer-id')
    return { kind: 'customer-id' };
  const attribute = standard?.kind === 'attribute' ? standard.attribute : attributeName;
  return { kind: 'attribute', attribute, type: attributeType };
}
