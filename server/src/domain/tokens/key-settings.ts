import { ServiceError } from '../errors.ts';
import type { Scope } from './scopes.ts';
import { scopes as knownScopes } from './scopes.ts';
import { maxAccessTokenMinutes, maxKeyNameCharacters, minAccessTokenMinutes } from './limits.ts';

/** The settings of a key that a person may choose (fact 1, decision D15). */
export type KeySettings = { name: string; scopes: readonly string[]; accessTokenMinutes: number };

/**
 * Checks the settings that are given.
 *
 * @throws ServiceError PARAMETER_INVALID, with the field and the reason
 */
export function assertKeySettings(settings: Partial<KeySettings>): void {
  const { name, scopes, accessTokenMinutes } = settings;
  if (name !== undefined) {
    if (name.trim() === '' || [...name].length > maxKeyNameCharacters)
      throw invalid('name', `must have 1 to ${maxKeyNameCharacters} characters`);
    if (!name.isWellFormed() || name.includes('\0')) throw invalid('name', 'must be well-formed Unicode without NUL');
  }
  if (scopes !== undefined) {
    const unknown = scopes.find((scope) => !knownScopes.includes(scope as Scope));
    if (unknown !== undefined) throw invalid('scopes', `must be some of ${knownScopes.join(', ')}`);
    if (scopes.length === 0) throw invalid('scopes', 'must name at least one scope');
  }
  if (accessTokenMinutes !== undefined) {
    if (
      !Number.isInteger(accessTokenMinutes) ||
      accessTokenMinutes < minAccessTokenMinutes ||
      accessTokenMinutes > maxAccessTokenMinutes
    ) {
      throw invalid(
        'accessTokenMinutes',
        `must be a whole number from ${minAccessTokenMinutes} to ${maxAccessTokenMinutes}`,
      );
    }
  }
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}
