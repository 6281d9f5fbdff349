import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CampaignProgress } from '../../../api/generated/campaign-answers.ts';
import type { CampaignFigures } from '../../../api/generated/campaign-figures.ts';
import { DataTable } from '../../../parts/lists/data-table.tsx';
import { ShareBar } from './share-bar.tsx';
import { Definition } from '../../../parts/text/definition.tsx';
import type { GlossaryWord } from '../../../parts/text/glossary.ts';
import { platformNames } from '../../../parts/text/platform-names.ts';
import styles from './platform-funnel.module.css';
import { countDevices, countReports, notDelivered, countText, percentText, shareOf } from '../figures.ts';
import { DeliveryCount, ReportCount } from '../report-links.tsx';

type Platform = keyof typeof platformNames;
/** Undefined for all platforms. */
type Place = Platform | undefined;

const ones = { people: 'person', devices: 'device' } as const;

type Step = {
  key: string;
  word: GlossaryWord;
  /** Shown next to the label: which goal, if there are several. */
  note?: string;
  unit: 'people' | 'devices';
  count: (place: Place) => number | null;
  /** The whole that this step is a share of, with its name. */
  share?: (place: Place) => { percent: number | undefined; of: string };
  /** The rows of the delivery log that this step counts. */
  rows?: (place: Place) => { platform?: string; outcome?: string } | undefined;
  /** The device reports that this step counts. */
  reports?: 'IMPRESSION' | 'CLICK';
};

type PlatformFunnelProps = {
  progress: CampaignProgress;
  figures: CampaignFigures | undefined;
  platforms: readonly Platform[];
};

/** The funnel of each platform, from the audience to conversions. */
export function PlatformFunnel({ progress, figures, platforms }: PlatformFunnelProps) {
  const places: Place[] = platforms.length > 1 ? [undefined, ...platforms] : [undefined];
  const only = platforms.length === 1 ? platforms[0] : undefined;
  return (
    <DataTable
      label="Funnel"
      minWidth={places.length > 1 ? 640 : 320}
      rows={stepsOf({ progress, figures })}
      keyOf={({ key }) => key}
      columns={[
        {
          key: 'step',
          title: 'Step',
          cell: ({ word, note }) => (
            <>
              <Definition word={word} />
              {note !== undefined && (
                <Text size="xs" c="dimmed">
                  {note}
                </Text>
              )}
            </>
          ),
        },
        ...places.map((place) => ({
          key: place ?? 'ALL',
          title:
            place === undefined ? (only === undefined ? 'All platforms' : platformNames[only]) : platformNames[place],
          isNumber: true,
          cell: (step: Step) => <Cell step={step} place={place} />,
        })),
      ]}
    />
  );
}

function Cell({ step, place }: { step: Step; place: Place }) {
  const { word, note, unit } = step;
  const count = step.count(place);
  const share = count === null ? undefined : step.share?.(place);
  const rows = step.rows?.(place);
  const number: ReactNode =
    count === null ? (
      '–'
    ) : step.reports !== undefined ? (
      <ReportCount count={count} of={{ kind: step.reports, ...(place !== undefined && { platform: place }) }} />
    ) : rows === undefined ? (
      countText(count)
    ) : (
      <DeliveryCount count={count} of={rows} />
    );
  return (
    <Stack gap={2} align="flex-end">
      <div {...(place === undefined && note === undefined && { 'data-step': word })}>
        <b>{number}</b> {count !== null && <span className={styles.unit}>{count === 1 ? ones[unit] : unit}</span>}
      </div>
      {share?.percent !== undefined && (
        <div className={styles.share}>
          <ShareBar percent={share.percent} width={56} />
          <span>
            {percentText(share.percent)} {share.of}
          </span>
        </div>
      )}
    </Stack>
  );
}

function stepsOf({ progress, figures }: Pick<PlatformFunnelProps, 'progress' | 'figures'>): Step[] {
  const ofPlatform = (place: Place) => figures?.platforms.find(({ platform }) => platform === place);
  const contentOf = (place: Place) => (place === undefined ? figures?.all : ofPlatform(place)?.all);
  const reachable = (place: Place) =>
    place === undefined || progress.reachableDevices === null
      ? progress.reachableDevices
      : countDevices(progress, ['ACCEPTED', 'WAITING', ...notDelivered], place);
  const accepted = (place: Place) => countDevices(progress, ['ACCEPTED'], place);
  const shown = (place: Place) => countReports(progress, 'IMPRESSION', place);
  const clicked = (place: Place) => countReports(progress, 'CLICK', place);
  const rowsOf = (place: Place) => (place === undefined ? {} : { platform: place });
  const isWhole = countDevices(progress, ['ACCEPTED', 'WAITING', ...notDelivered]) === progress.reachableDevices;
  return [
    {
      ...{ key: 'audience', word: 'Audience', unit: 'people' },
      count: (place) => (place === undefined ? progress.audienceUsers : (ofPlatform(place)?.reachableUsers ?? null)),
    },
    {
      ...{ key: 'reachable', word: 'Reachable', unit: 'devices' },
      count: reachable,
      // While the campaign is sent, the log has fewer rows than there are devices.
      rows: (place) => (place === undefined && !isWhole ? undefined : rowsOf(place)),
    },
    {
      ...{ key: 'accepted', word: 'Accepted', unit: 'devices' },
      count: accepted,
      share: (place) => ({ percent: shareOf(accepted(place), reachable(place)), of: 'of reachable' }),
      rows: (place) => ({ ...rowsOf(place), outcome: 'ACCEPTED' }),
    },
    {
      ...{ key: 'shown', word: 'Shown', unit: 'devices', reports: 'IMPRESSION' },
      count: shown,
      share: (place) => ({ percent: shareOf(shown(place), accepted(place)), of: 'of accepted' }),
    },
    {
      ...{ key: 'clicked', word: 'Clicked', unit: 'devices', reports: 'CLICK' },
      count: clicked,
      share: (place) => ({ percent: shareOf(clicked(place), accepted(place)), of: 'of accepted' }),
    },
    ...(figures?.all.goals ?? []).map(({ name }, number): Step => ({
      ...{ key: `goal ${number}`, word: 'Converted', unit: 'people', note: name },
      count: (place) => contentOf(place)?.goals[number]?.users ?? null,
      share: (place) => ({ percent: contentOf(place)?.goals[number]?.rate?.percent, of: 'of eligible people' }),
    })),
  ];
}
