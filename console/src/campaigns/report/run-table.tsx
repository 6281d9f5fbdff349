import { Button, Group, Text } from '@mantine/core';
import type { CampaignRuns } from '../../api/generated/campaign-answers.ts';
import { CopyTextButton } from '../../parts/copyable.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Definition } from '../../parts/text/definition.tsx';
import type { GlossaryWord } from '../../parts/text/glossary.ts';
import { Time } from '../../parts/text/time.tsx';
import { countText, percentText, shareOf } from './figures.ts';

type RunTableProps = { runs: CampaignRuns; page: number; onPage: (page: number) => void };
type Run = CampaignRuns['runs'][number];

/** The runs of a campaign, with the reason of each that failed or was missed. */
export function RunTable({ runs: { runs, total, perPage }, page, onPage }: RunTableProps) {
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (total === 0)
    return <EmptyState title="No runs yet">Each time this campaign is sent, a run of it appears here.</EmptyState>;
  const number = (word: GlossaryWord, countOf: (run: Run) => number, whole?: (run: Run) => number) => ({
    ...{ key: word, title: <Definition word={word} />, isNumber: true },
    cell: (run: Run) => {
      const share = whole && shareOf(countOf(run), whole(run));
      return (
        <>
          {countText(countOf(run))}
          {share !== undefined && countOf(run) > 0 && (
            <Text size="xs" c="dimmed">
              {percentText(share)}
            </Text>
          )}
        </>
      );
    },
  });
  return (
    <section>
      <DataTable
        label="Runs"
        minWidth={900}
        rows={runs}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'status',
            title: 'Status',
            cell: ({ status, statusReason }) => (
              <>
                <StatusBadge status={status} />
                {statusReason !== null && (
                  <Text size="xs" mt={2} maw={260}>
                    {statusReason}
                  </Text>
                )}
              </>
            ),
          },
          { key: 'planned', title: 'Planned', cell: ({ dueAt }) => (dueAt === null ? 'At once' : <Time at={dueAt} />) },
          {
            key: 'started',
            title: 'Began and ended',
            cell: ({ startedAt, endedAt }) => (
              <>
                {startedAt === null ? 'Did not begin' : <Time at={startedAt} />}
                {startedAt !== null && endedAt !== null && (
                  <Text size="xs" c="dimmed" component="div">
                    <Time at={endedAt} />
                  </Text>
                )}
              </>
            ),
          },
          number(
            'Accepted',
            (run) => run.accepted,
            (run) => run.accepted + run.waiting + run.notDelivered,
          ),
          number(
            'Shown',
            (run) => run.shown,
            (run) => run.accepted,
          ),
          number(
            'Clicked',
            (run) => run.clicked,
            (run) => run.accepted,
          ),
          number('Waiting', (run) => run.waiting),
          number('Not delivered', (run) => run.notDelivered),
          { key: 'id', title: 'Id', cell: ({ id }) => <CopyTextButton text={id} label={`id of run ${id}`} /> },
        ]}
      />
      {pages > 1 && (
        <Group justify="space-between" mt="xs">
          <Text size="sm">
            Page {page} of {pages}, {countText(total)} runs
          </Text>
          <Group gap="xs">
            <Button variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
              Newer
            </Button>
            <Button variant="default" disabled={page >= pages} onClick={() => onPage(page + 1)}>
              Older
            </Button>
          </Group>
        </Group>
      )}
    </section>
  );
}
