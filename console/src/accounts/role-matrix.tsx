import { NativeSelect, Text } from '@mantine/core';
import type { ConsoleAccount, ConsoleInvitation, Role, SessionWorkspace } from '../api/generated/accounts.ts';
import { useSession } from '../session/use-session.ts';

/** The purpose of each role in one line. docs/console.md has the complete table. */
const roleNames: Record<Role, string> = {
  owner: 'Owner: everything, including accounts',
  marketer: 'Marketer: campaigns and segments',
  analyst: 'Analyst: reads reports only',
  developer: 'Developer: keys, logs, people, the sandbox',
};

const shortNames: Record<Role, string> = {
  owner: 'Owner',
  marketer: 'Marketer',
  analyst: 'Analyst',
  developer: 'Developer',
};

/** The choices of a role, explained, for forms that have the space. */
export const roleOptions = withNone(roleNames, 'No role in all workspaces');
const cellOptions = withNone(shortNames, '—');

function withNone(names: Record<Role, string>, none: string) {
  return [{ value: '', label: none }, ...Object.entries(names).map(([value, label]) => ({ value, label }))];
}

/** Returns the chosen role, or null for none. */
export function readRole(value: unknown): Role | null {
  return typeof value === 'string' && value in roleNames ? (value as Role) : null;
}

export type RoleChange = { id: string; role: Role | null; workspaceId: string | null };

/** The columns of the matrix of roles: all workspaces together, then each one. */
export function useRoleColumns(onChange: (change: RoleChange) => void) {
  const { workspaces } = useSession();
  const all = {
    key: 'all',
    title: 'All workspaces',
    cell: ({ id, email, role, groupRole }: ConsoleAccount) => (
      <RoleCell
        label={`Role of ${email} in all workspaces`}
        {...{ role, groupRole }}
        onChange={(chosen) => onChange({ id, role: chosen, workspaceId: null })}
      />
    ),
  };
  return [all, ...workspaces.map((workspace) => columnOf(workspace, onChange))];
}

function columnOf({ id: workspaceId, name }: SessionWorkspace, onChange: (change: RoleChange) => void) {
  return {
    key: workspaceId,
    title: name,
    cell: ({ id, email, workspaceRoles }: ConsoleAccount) => {
      const here = workspaceRoles.find((one) => one.workspaceId === workspaceId);
      return (
        <RoleCell
          label={`Role of ${email} in ${name}`}
          role={here?.role ?? null}
          groupRole={here?.groupRole ?? null}
          onChange={(role) => onChange({ id, role, workspaceId })}
        />
      );
    },
  };
}

type RoleCellProps = {
  label: string;
  role: Role | null;
  groupRole: Role | null;
  onChange: (role: Role | null) => void;
};

/** The role that an owner assigned, as a choice, and below it the one that groups of the company gave. */
function RoleCell({ label, role, groupRole, onChange }: RoleCellProps) {
  return (
    <>
      <NativeSelect
        size="xs"
        miw={120}
        aria-label={label}
        value={role ?? ''}
        data={cellOptions}
        onChange={(event) => onChange(readRole(event.currentTarget.value))}
      />
      {groupRole !== null && (
        <Text size="xs" mt={4}>
          {shortNames[groupRole]} by group
        </Text>
      )}
    </>
  );
}

/** Describes the roles of an invitation: "Marketer in Shop, Analyst in all workspaces". */
export function useRolesOf(): (invitation: Pick<ConsoleInvitation, 'role' | 'workspaceRoles'>) => string {
  const { workspaces } = useSession();
  return ({ role, workspaceRoles }) => {
    const all = role === null ? [] : [`${shortNames[role]} in all workspaces`];
    const each = Object.entries(workspaceRoles).map(
      ([id, one]) => `${shortNames[one]} in ${workspaces.find((workspace) => workspace.id === id)?.name ?? id}`,
    );
    return [...all, ...each].join(', ');
  };
}
