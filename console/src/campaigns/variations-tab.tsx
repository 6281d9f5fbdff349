import { Group, Space, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type {
  CampaignFigures,
  ContentFigures,
  FigureRate,
  PlatformFigures,
} from '../api/generated/campaign-figures.ts';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { ToneBadge } from '../parts/status-badge.tsx';
import { countText, percentText } from './figure-text.ts';
import { Leaders } from './leaders.tsx';
import { localeText } from './locale-text.ts';

type VariationsTabProps = { figures: CampaignFigures; status: string };

/** What each variation, locale and control group came to, and whether that is more than chance. */
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

/** Who was kept out to compare with, and how much more often a goal was reached with the message. */
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
