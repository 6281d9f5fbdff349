import { Type } from 'typebox';
import { permissions, roles } from '../../domain/accounts/roles.ts';
import type { Permission as PermissionName } from '../../domain/accounts/roles.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const Role = oneOf(roles);

export const ConsoleWorkspace = Type.Object({
  id: Type.String(),
  dbName: Type.String(),
  name: Type.String(),
  timeZone: Type.String({ description: 'IANA name; the console shows times in it.' }),
});

export const Permission = oneOf(Object.keys(permissions) as PermissionName[]);

export const ConsoleSession = Type.Object({
  account: described(
    Type.Object({ id: orNull(Type.String()), name: Type.String(), email: orNull(Type.String()), role: Role }),
    'Id and address are null for the start link of a sandbox.',
  ),
  permissions: Type.Array(Permission),
  workspaces: Type.Array(ConsoleWorkspace),
  isSandbox: Type.Boolean(),
});
