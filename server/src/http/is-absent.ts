/** Serializers write null for a member that holds nothing: it reads as not sent. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** The same where an empty text cannot be a value either: forms send it for a field that was left empty. */
export function isBlank(value: unknown): value is undefined | null | '' {
  return isAbsent(value) || value === '';
}
