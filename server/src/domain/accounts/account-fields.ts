import { ServiceError } from '../errors.ts';
import { maxAccountNameCharacters, maxPasswordCharacters, minPasswordCharacters } from './limits.ts';

/** Trimmed; the address of a person, as it is written. @throws ServiceError PARAMETER_INVALID */
export function readEmail(text: string): string {
  const email = text.trim();
  const isAddress = /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(email) && email.length <= 254 && email.isWellFormed();
  // An invisible character makes an address that looks like another one.
  if (/[\p{Cc}\p{Cf}]/u.test(email)) throw invalid('email', 'must be an e-mail address');
  if (!isAddress) throw invalid('email', 'must be an e-mail address');
  return email;
}

/** @throws ServiceError PARAMETER_INVALID */
export function readAccountName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxAccountNameCharacters)
    throw invalid('name', `must have 1 to ${maxAccountNameCharacters} characters`);
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) throw invalid('name', 'must be plain text');
  return name;
}

/**
 * Long, and not an obvious first guess (NIST SP 800-63B: length before composition rules).
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export function readNewPassword(password: string, { email, name }: { email: string; name: string }): string {
  const length = [...password].length;
  if (length < minPasswordCharacters || length > maxPasswordCharacters)
    throw invalid('password', `must have ${minPasswordCharacters} to ${maxPasswordCharacters} characters`);
  const folded = password.toLowerCase();
  const [local] = email.toLowerCase().split('@');
  if (new Set(folded).size < 5) throw invalid('password', 'must have more than four different characters');
  if ([email.toLowerCase(), local!, name.toLowerCase()].includes(folded))
    throw invalid('password', 'must not be your name or address');
  return password;
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}
