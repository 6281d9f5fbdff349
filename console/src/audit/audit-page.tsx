import { Anchor, Button, Code, Group, Stack, Text, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AuditFilters } from '../api/accounts.ts';
import type { AuditEntry } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { ListTools, readFilterFields, TimeFilter, timeFilterText, FilterBar } from '../parts/lists/filter-bar.tsx';
import { SavedViews } from '../parts/lists/saved-views.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import { stateWords } from '../parts/status-badge.tsx';
import { formatTime } from '../parts/text/format-time.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { actionNames, kindNames } from './action-names.ts';
import { readAuditSearch } from './audit-search.ts';

const route = getRouteApi('/w/$workspaceId/audit');

// The server returns at most this many lines.
const pageSize = 100;

/** Lists changes with their actor, time and object. */
export function AuditPage() {
  const { id: workspaceId, name } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isFiltered = Object.keys(search).length > 0;
  const audit = useInfiniteQuery({
    queryKey: ['audit', workspaceId, search],
    queryFn: ({ pageParam }) =>
      consoleClient.accounts.listAudit({ workspaceId, ...search, ...(pageParam === '' ? {} : { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)!.id),
  });
  const entries = audit.data?.pages.flat() ?? [];
  return (
    <Stack gap="md">
      <PageHeader about={`Changes made in the console, in ${name} and to accounts.`} />
      <ListTools
        filters={
          <AuditFilterForm
            key={JSON.stringify(search)}
            search={search}
            onChosen={(next) => void navigate({ search: next })}
          />
        }
      >
        <SavedViews
          screen="audit"
          search={search}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/audit"
              params={{ workspaceId }}
              search={readAuditSearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </ListTools>
      {audit.error !== null && <Failure error={audit.error} onRetry={() => void audit.refetch()} />}
      {audit.isSuccess && entries.length === 0 && isFiltered && <EmptyState title="No matching changes" />}
      {audit.isSuccess && entries.length === 0 && !isFiltered && (
        <EmptyState title="No changes yet">
          Every change to a key, campaign, segment or account is listed here.
        </EmptyState>
      )}
      {entries.length > 0 && (
        <DataTable
          label="Audit log"
          rows={entries}
          keyOf={({ id }) => id}
          columns={[
            { key: 'at', title: 'When', cell: ({ at }) => <Ago at={at} clock="real" /> },
            { key: 'who', title: 'Who', cell: ({ actorName }) => actorName },
            { key: 'what', title: 'What', cell: ({ action }) => actionNames[action] ?? <Code>{action}</Code> },
            { key: 'object', title: 'Object', cell: (entry) => <AuditObject entry={entry} /> },
          ]}
        />
      )}
      {entries.length > 0 && (
        <Group justify="flex-end" gap="md">
          <Anchor
            size="sm"
            href={consoleClient.accounts.auditFileUrl({ workspaceId, ...search })}
            download
            underline="always"
          >
            Download CSV (up to 10,000 lines)
          </Anchor>
          {audit.hasNextPage && (
            <Button variant="default" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
              Older
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

const isId = /^[0-9a-f]{24}$/;

/** The changed object, linked if it has a screen, and the change. */
function AuditObject({ entry }: { entry: AuditEntry }) {
  const { id: workspaceId, timeZone } = useWorkspace();
  const { objectId, objectName, detail } = entry;
  const { of, ...others } = detail as Record<string, unknown>;
  const details = Object.entries(others)
    .map(([name, value]) => `${wordsOf(name)} ${valueText(value, timeZone)}`)
    .join(', ');
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          <ObjectLink entry={entry}>{objectName ?? (objectId === null ? '–' : <Code>{objectId}</Code>)}</ObjectLink>
        </Text>
        {objectId !== null && <CopyTextButton text={objectId} label={`id of ${objectName ?? 'it'}`} />}
      </Group>
      {typeof of === 'string' && isId.test(of) && (
        <Text size="xs" c="dimmed" component="div">
          Made from{' '}
          <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: of }}>
            this campaign
          </RouteLink>
        </Text>
      )}
      {details !== '' && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {details}
        </Text>
      )}
    </>
  );
}

const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const isCode = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** Formats a value of a change in words: codes as "given up", times in the workspace's zone, lists and parts one by one. */
function valueText(value: unknown, timeZone: string): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => valueText(one, timeZone)).join(', ') || 'none';
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, one]) => `${wordsOf(name)} ${valueText(one, timeZone)}`)
      .join(', ');
  if (typeof value !== 'string') return String(value);
  if (isTime.test(value) && !Number.isNaN(Date.parse(value))) return formatTime(value, timeZone);
  return isCode.test(value) && value.length > 3 ? stateWords(value).toLowerCase() : value;
}

/** Formats `dueAt` as "due at". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function ObjectLink({ entry: { objectKind, objectId, action }, children }: { entry: AuditEntry; children: ReactNode }) {
  const { id: workspaceId } = useWorkspace();
  if (objectId === null) return children;
  switch (objectKind) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'segment':
      return (
        <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'person':
      // The audit line of an erasure has the id of the erasure, not of the user.
      return action === 'person.erase' || action === 'person.erase-cancel' ? (
        children
      ) : (
        <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId: objectId }}>
          {children}
        </RouteLink>
      );
    case 'key':
      return (
        <RouteLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    case 'credential':
      return (
        <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    case 'account':
    case 'invitation':
      return (
        <RouteLink to="/w/$workspaceId/accounts" params={{ workspaceId }}>
          {children}
        </RouteLink>
      );
    default:
      return children;
  }
}

const filterNames = {
  object: 'Object',
  actor: 'Who',
  action: 'What',
  from: 'From (UTC)',
  until: 'Before (UTC)',
} as const;
const filterFields = Object.keys(filterNames) as (keyof typeof filterNames)[];
const timeFields = ['from', 'until'] as const;
const actionKinds = [...kindNames].map(([value, label]) => ({ value, label }));

type AuditFilterFormProps = { search: AuditFilters; onChosen: (search: AuditFilters) => void };

/** The filters of the audit log. Submitting them changes the address. */
function AuditFilterForm({ search, onChosen }: AuditFilterFormProps) {
  const chosen = filterFields.flatMap((field) => {
    const { [field]: value, ...others } = search;
    if (value === undefined) return [];
    const shown = shownOf(field, value);
    return [{ name: filterNames[field], value: shown, onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Audit log"
      field={
        <TextInput
          name="object"
          label={filterNames.object}
          placeholder="Name or id"
          defaultValue={search.object ?? ''}
        />
      }
      chosen={chosen}
      onSearched={(form) => onChosen(readFilterFields(form, { names: filterFields, times: timeFields }))}
      onCleared={() => onChosen({})}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <TextInput name="actor" label={filterNames.actor} defaultValue={search.actor ?? ''} />
        <NativeSelect
          name="action"
          label={filterNames.action}
          data={[{ value: '', label: 'Any' }, ...actionKinds]}
          defaultValue={search.action ?? ''}
        />
        {timeFields.map((name) => (
          <TimeFilter key={name} name={name} label={filterNames[name]} value={search[name]} />
        ))}
      </SimpleGrid>
    </FilterBar>
  );
}

function shownOf(field: (typeof filterFields)[number], value: string): string {
  if ((timeFields as readonly string[]).includes(field)) return timeFilterText(value);
  return field === 'action' ? (kindNames.get(value) ?? actionNames[value] ?? value) : value;
}
