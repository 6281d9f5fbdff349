import { Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignProgress } from '../../../api/generated/campaign-answers.ts';
import type { CampaignFigures } from '../../../api/generated/campaign-figures.ts';
import { DataTable } from '../../../parts/lists/data-table.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { RouteLink } from '../../../parts/links.tsx';
import { CampaignPicker } from '../../campaign-picker.tsx';
import { compareCampaigns } from './compare-campaigns.ts';
import type { ComparedRow } from './compare-campaigns.ts';
import { useFigures, useProgress } from '../use-figures.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type Compared = { progress: CampaignProgress; figures: CampaignFigures };

/** Compares the campaign with another one, which the address names. */
export function Comparison({ progress, figures }: Compared) {
  const { campaignId } = route.useParams();
  const { with: other, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (id: string | undefined) =>
    void navigate({ search: id === undefined ? search : { ...search, with: id }, resetScroll: false });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Comparison
      </Title>
      {other === undefined ? (
        <div style={{ maxWidth: 420 }}>
          <CampaignPicker label="Compare with" chosen={undefined} except={campaignId} onChosen={choose} />
        </div>
      ) : (
        <ComparedWith key={other} other={other} own={{ progress, figures }} onChosen={choose} />
      )}
    </section>
  );
}

type ComparedWithProps = { other: string; own: Compared; onChosen: (id: string | undefined) => void };

function ComparedWith({ other, own, onChosen }: ComparedWithProps) {
  const { workspaceId, campaignId } = route.useParams();
  const { attribution } = route.useSearch();
  const progress = useProgress({ workspaceId, id: other });
  const figures = useFigures({ workspaceId, id: other, attribution, state: 'unknown' });
  return (
    <>
      <div style={{ maxWidth: 420 }}>
        <CampaignPicker label="Compare with" chosen={other} except={campaignId} onChosen={onChosen} />
      </div>
      <Loaded query={progress}>
        {(numbers) => (
          <Loaded query={figures}>
            {(data) => (
              <ComparisonTable
                rows={compareCampaigns({ one: own, other: { progress: numbers, figures: data } })}
                names={[own.figures.name, data.name]}
                other={other}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

type ComparisonTableProps = { rows: ComparedRow[]; names: readonly [string, string]; other: string };

function ComparisonTable({ rows, names, other }: ComparisonTableProps) {
  const { workspaceId } = route.useParams();
  const number = (title: React.ReactNode, cell: (row: ComparedRow) => React.ReactNode, key: string) => ({
    ...{ key, title, cell, isNumber: true },
  });
  const shown = ({ count, rate }: ComparedRow['one']) => (
    <>
      {count}
      {rate !== undefined && (
        <Text size="xs" c="dimmed">
          {rate}
        </Text>
      )}
    </>
  );
  return (
    <Stack gap="xs" mt="md">
      <DataTable
        label="Comparison"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { key: 'measure', title: 'Measure', cell: ({ name }) => name },
          number(names[0], ({ one }) => shown(one), 'one'),
          number(
            <RouteLink
              to="/w/$workspaceId/campaigns/$campaignId"
              params={{ workspaceId, campaignId: other }}
              search={{}}
              activeProps={{}}
            >
              {names[1]}
            </RouteLink>,
            (row) => shown(row.other),
            'other',
          ),
          number(
            'Difference',
            ({ difference, verdict }) => (
              <>
                {difference ?? '–'}
                {verdict !== undefined && (
                  <Text size="xs" c="dimmed">
                    {verdict}
                  </Text>
                )}
              </>
            ),
            'difference',
          ),
        ]}
      />
      <Text size="xs" c="dimmed">
        Shares differ by points: 3 % is 1 point more than 2 %. Where the 95 % intervals of both overlap, it may be
        chance.
      </Text>
    </Stack>
  );
}
