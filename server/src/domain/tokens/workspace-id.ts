/**
 * Whether `text` can be a Workspace ID; anything else is treated as unknown without a look-up (PostgreSQL refuses NUL).
 */
export function isWorkspaceId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
