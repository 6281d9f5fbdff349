import { Group, Space, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type {
  CampaignFigures,
  ContentFigures,
  FigureRate,
  PlatformFigures,
} from '../../api/generated/campaign-figures.ts';
import { consoleClient } from '../../console.ts';
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Notice } from '../../parts/notice.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { Time } from '../../parts/text/time.tsx';
import { showToast } from '../../parts/toast/toast-list.ts';
import { useMay } from '../../session/use-session.ts';
import { countText, percentText } from './figures.ts';
import { localeText } from './sent-messages.ts';

type VariationsTabProps = { figures: CampaignFigures; status: string };

/** Results of each variation, locale and control group, with their significance. */
export function VariationsTab({ figures, status }: VariationsTabProps) {
  const variations = figures.contents.filter(({ variation, locale }) => variation !== null && locale === null);
  const locales = figures.contents.filter(({ variation, locale }) => variation === null && locale !== null);
  const both = figures.contents.filter(({ variation, locale }) => variation !== null && locale !== null);
  return (
    <Stack gap="lg">
      {variations.length > 1 && (
        <section>
          <Title order={2} size="h5" mb="xs">
            Variations
          </Title>
          <Leaders figures={figures} status={status} />
          <Space h="sm" />
          <ContentTable
            label="Variations"
            contents={variations}
            nameOf={({ variation }) => `Variation ${variation}`}
            leader={figures.leaders.find(({ measure, isBest }) => measure === 'CLICKS' && isBest)?.variation}
          />
        </section>
      )}
      {figures.platforms.some(({ groups }) => groups.length > 0) && <ControlGroups platforms={figures.platforms} />}
      {locales.length > 0 && (
        <section>
          <Title order={2} size="h5" mb="xs">
            Locales
          </Title>
          <ContentTable label="Locales" contents={locales} nameOf={({ locale }) => localeText(locale)} />
        </section>
      )}
      {both.length > 0 && (
        <section>
          <Title order={2} size="h5" mb="xs">
            Each variation in each locale
          </Title>
          <ContentTable
            label="Each variation in each locale"
            contents={both}
            nameOf={({ variation, locale }) => `Variation ${variation}, ${localeText(locale)}`}
          />
        </section>
      )}
      <Text size="sm" c="dimmed">
        Ranges are 95 % intervals: the true rate lies within them nineteen times out of twenty.
      </Text>
    </Stack>
  );
}

type ContentTableProps = {
  label: string;
  contents: readonly ContentFigures[];
  nameOf: (content: ContentFigures) => string;
  leader?: number | undefined;
};

function ContentTable({ label, contents, nameOf, leader }: ContentTableProps) {
  const goals = contents[0]?.goals ?? [];
  const number = (title: string, cell: (content: ContentFigures) => ReactNode) => ({
    ...{ key: title, title, cell, isNumber: true },
  });
  return (
    <DataTable
      label={label}
      rows={contents}
      keyOf={nameOf}
      columns={[
        {
          key: 'content',
          title: 'Content',
          cell: (content) => (
            <Group gap={8} wrap="nowrap">
              {nameOf(content)}
              {leader !== undefined && content.variation === leader && <ToneBadge tone="done">Ahead</ToneBadge>}
            </Group>
          ),
        },
        number('Accepted', ({ accepted }) => countText(accepted)),
        number('Shown', ({ shown, shownRate }) => <Rated count={shown} rate={shownRate} />),
        number('Clicked', ({ clicked, clickedRate }) => <Rated count={clicked} rate={clickedRate} />),
        ...goals.map(({ name }, index) =>
          number(name, ({ goals: own }) => {
            const goal = own[index]!;
            return <Rated count={goal.users} rate={goal.rate} />;
          }),
        ),
      ]}
    />
  );
}

function Rated({ count, rate }: { count: number; rate: FigureRate | null }) {
  if (rate === null) return countText(count);
  return (
    <>
      <b>{percentText(rate.percent)}</b>
      <Text size="xs" c="dimmed">
        {countText(count)} · {percentText(rate.low)} to {percentText(rate.high)}
      </Text>
    </>
  );
}

const groupNames = {
  CAMPAIGN_CONTROL_GROUP: 'Control group of the campaign',
  GLOBAL_CONTROL_GROUP: 'Control group of the workspace',
} as const;

type GroupRow = PlatformFigures['groups'][number] & Pick<PlatformFigures, 'platform' | 'uplifts'>;

/** The control groups, and how much the message changed each goal. */
function ControlGroups({ platforms }: { platforms: readonly PlatformFigures[] }) {
  const rows = platforms.flatMap(({ platform, groups, uplifts }): GroupRow[] =>
    groups.map((group) => ({ ...group, platform, uplifts: group.group === null ? uplifts : [] })),
  );
  const goals = rows[0]?.goals ?? [];
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Control groups
      </Title>
      <DataTable
        label="Control groups"
        rows={rows}
        keyOf={({ platform, group }) => `${platform} ${group}`}
        columns={[
          { key: 'platform', title: 'Platform', cell: ({ platform }) => platformNames[platform] },
          {
            key: 'group',
            title: 'People',
            cell: ({ group }) => (group === null ? 'Meant to receive it' : groupNames[group]),
          },
          { key: 'users', title: 'Count', isNumber: true, cell: ({ users }) => countText(users) },
          ...goals.flatMap(({ name }, index) => [
            {
              key: name,
              title: name,
              isNumber: true,
              cell: ({ goals: own }: GroupRow) => {
                const { users, percent } = own[index]!;
                return `${countText(users)}${percent === null ? '' : ` (${percentText(percent)})`}`;
              },
            },
            {
              key: `${name} uplift`,
              title: 'Uplift',
              isNumber: true,
              cell: ({ uplifts }: GroupRow) => (uplifts[index] === undefined ? '' : <Uplift uplift={uplifts[index]} />),
            },
          ]),
        ]}
      />
      {goals.length === 0 && (
        <Text size="sm" mt="xs">
          Without a conversion goal there is nothing to compare: a control group sees and clicks nothing.
        </Text>
      )}
    </section>
  );
}

function Uplift({ uplift: { percent, low, high } }: { uplift: PlatformFigures['uplifts'][number] }) {
  if (percent === null) return 'not known yet';
  const signed = (value: number) => `${value > 0 ? '+' : ''}${percentText(value).replace('-', '−')}`;
  return (
    <>
      <b>{signed(percent)}</b>
      {low !== null && high !== null && (
        <Text size="xs" c="dimmed">
          {signed(low)} to {signed(high)}
          {low <= 0 && high >= 0 && ', may be chance'}
        </Text>
      )}
    </>
  );
}

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');
// Statuses in which some users have not received the campaign yet.
const openStates = ['SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED'];

type LeadersProps = { figures: CampaignFigures; status: string };

/** The best variation. No variation is named before the result is significant at 95 %. */
function Leaders({ figures: { leaders, winner, all }, status }: LeadersProps) {
  const mayName = useMay('campaigns.write') && openStates.includes(status) && !winner.isLearned;
  const best = leaders.filter(({ isBest }) => isBest);
  const so = openStates.includes(status) ? ' so far' : '';
  const does = (measure: string) =>
    measure === 'CLICKS' ? 'is clicked the most' : `leads to “${all.goals[0]?.name ?? 'the goal'}” the most`;
  return (
    <Stack gap="sm">
      {winner.variation !== null && <NamedWinner winner={winner} mayTakeBack={mayName} />}
      {best.map(({ measure, variation, bestPercent }) => (
        <Notice key={measure} tone="good" title={`Variation ${variation} ${does(measure)}${so}`}>
          <Group justify="space-between" gap="sm">
            <span>With {percentText(bestPercent)} it is the best of them.</span>
            {mayName && winner.variation !== variation && <SendToRest variation={variation} />}
          </Group>
        </Notice>
      ))}
      {best.length === 0 && (
        <Notice tone="note" title={`No variation is ahead${so}`}>
          {leaders
            .map(
              ({ measure, variation, bestPercent }) =>
                `By ${measure === 'CLICKS' ? 'clicks' : 'the goal'} variation ${variation} is the best with ${percentText(bestPercent)}; 95 % are needed.`,
            )
            .join(' ')}
        </Notice>
      )}
    </Stack>
  );
}

function useNameWinner() {
  const { workspaceId, campaignId: id } = route.useParams();
  const queries = useQueryClient();
  return async (variation: number | null) => {
    await consoleClient.campaigns.nameWinner({ workspaceId, id, variation });
    await queries.invalidateQueries({ queryKey: ['campaign-figures', workspaceId, id] });
  };
}

function SendToRest({ variation }: { variation: number }) {
  const name = useNameWinner();
  return (
    <ConfirmButton
      label="Send to rest"
      color="accent"
      size="xs"
      title={`Send variation ${variation} to the rest?`}
      hits="Everyone who has not received the campaign yet gets it, in this run and later ones. Messages already sent do not change."
      onConfirmed={async () => {
        await name(variation);
        showToast({
          text: `The rest gets variation ${variation}`,
          undo: () => name(null),
          undone: 'The shares decide again',
        });
      }}
    />
  );
}

function NamedWinner({ winner, mayTakeBack }: { winner: CampaignFigures['winner']; mayTakeBack: boolean }) {
  const name = useNameWinner();
  return (
    <Notice tone="note" title={`The rest gets variation ${winner.variation}`}>
      <Group justify="space-between" gap="sm">
        <span>
          Chosen by {winner.namedBy}
          {winner.namedAt !== null && (
            <>
              , <Time at={winner.namedAt} />
            </>
          )}
          .
        </span>
        {mayTakeBack && (
          <ConfirmButton
            label="Remove winner"
            size="xs"
            title="Remove the winner?"
            hits="Everyone who has not received the campaign yet gets a variation according to its share."
            onConfirmed={() => name(null)}
          />
        )}
      </Group>
    </Notice>
  );
}
