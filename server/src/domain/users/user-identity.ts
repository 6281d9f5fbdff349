/** How a caller refers to a user: by customer id, or by the id assigned by this service (fact 5). */
export type UserIdentity = { kind: 'customer-id' | 'id'; value: string };

/**
 * What a type of identity means. The sources name the own id `id` in samples and `<vendor>_id` in the schema, so both
 * are taken.
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function identityKindOf(type: string, prefixes: readonly string[]): UserIdentity['kind'] | undefined {
  if (type === 'customer_id') return 'customer-id';
  return ['id', ...prefixes.map((prefix) => `${prefix}_id`)].includes(type) ? 'id' : undefined;
}
