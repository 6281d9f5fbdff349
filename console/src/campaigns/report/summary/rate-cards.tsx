import { Box, Card, Group, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CampaignProgress } from '../../../api/generated/campaign-answers.ts';
import type { CampaignFigures } from '../../../api/generated/campaign-figures.ts';
import { RouteLink } from '../../../parts/links.tsx';
import { ShareBar } from './share-bar.tsx';
import { Definition } from '../../../parts/text/definition.tsx';
import type { GlossaryWord } from '../../../parts/text/glossary.ts';
import styles from './rate-cards.module.css';
import { countDevices, countReports, notDelivered, countText, percentText, shareOf } from '../figures.ts';
import { DeliveryCount, ReportCount } from '../report-links.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type RateCardsProps = { progress: CampaignProgress; figures: CampaignFigures | undefined };

/** The key figures: accepted, shown, clicked and converted, each as a share of the step before. */
export function RateCards({ progress, figures }: RateCardsProps) {
  const reachable = progress.reachableDevices;
  const accepted = countDevices(progress, ['ACCEPTED']);
  const shown = countReports(progress, 'IMPRESSION');
  const clicked = countReports(progress, 'CLICK');
  const clickedOfShown = shareOf(clicked, shown);
  return (
    <div className={styles.cards}>
      <RateCard
        word="Accepted"
        value={<DeliveryCount count={accepted} of={{ outcome: 'ACCEPTED' }} />}
        percent={shareOf(accepted, reachable)}
        of={ofDevices(reachable)}
      />
      <RateCard
        word="Shown"
        value={<ReportCount count={shown} of={{ kind: 'IMPRESSION' }} />}
        percent={shareOf(shown, accepted)}
        of="of accepted"
      />
      <RateCard
        word="Clicked"
        value={<ReportCount count={clicked} of={{ kind: 'CLICK' }} />}
        percent={shareOf(clicked, accepted)}
        of={clickedOfShown === undefined ? 'of accepted' : `of accepted, ${percentText(clickedOfShown)} of shown`}
      />
      <Converted figures={figures} />
      <NotDelivered progress={progress} />
    </div>
  );
}

function Converted({ figures }: Pick<RateCardsProps, 'figures'>) {
  const [goal] = figures?.all.goals ?? [];
  if (figures === undefined) return <RateCard word="Converted" value="–" of="" />;
  if (goal === undefined) return <RateCard word="Converted" value="–" of="No goal was set." />;
  const more = figures.all.goals.length - 1;
  const eligible = figures.all.eligibleUsers ?? 0;
  const whole = goal.rate === null ? 'people' : `of ${countText(eligible)} ${eligible === 1 ? 'person' : 'people'}`;
  return (
    <RateCard
      word="Converted"
      value={countText(goal.users)}
      percent={goal.rate?.percent}
      of={`${whole}: ${goal.name}${more > 0 ? ` and ${more} more` : ''}`}
    />
  );
}

function NotDelivered({ progress }: Pick<RateCardsProps, 'progress'>) {
  const { workspaceId, campaignId } = route.useParams();
  const search = route.useSearch();
  const count = countDevices(progress, notDelivered);
  const value =
    count === 0 ? (
      '0'
    ) : (
      <RouteLink
        to="/w/$workspaceId/campaigns/$campaignId"
        params={{ workspaceId, campaignId }}
        search={{ ...search, tab: 'delivery' }}
        activeProps={{}}
      >
        {countText(count)}
      </RouteLink>
    );
  return (
    <RateCard
      word="Not delivered"
      value={value}
      percent={shareOf(count, progress.reachableDevices)}
      of={ofDevices(progress.reachableDevices)}
    />
  );
}

function ofDevices(count: number | null): string {
  if (count === null) return 'so far; the audience is being counted';
  return `of ${countText(count)} ${count === 1 ? 'device' : 'devices'}`;
}

type RateCardProps = { word: GlossaryWord; value: ReactNode; percent?: number | undefined; of: string };

function RateCard({ word, value, percent, of }: RateCardProps) {
  return (
    <Card withBorder p="md" className={styles.card!} role="group" aria-label={word}>
      <Text size="sm" c="dimmed" component="div">
        <Definition word={word} />
      </Text>
      <Group gap={8} align="baseline" mt={4}>
        <Text fz={28} lh="36px" fw={600} component="div" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {value}
        </Text>
        {percent !== undefined && (
          <Text size="md" fw={500} component="span">
            {percentText(percent)}
          </Text>
        )}
      </Group>
      <Text size="xs" c="dimmed" mt={2} mb="sm" style={{ overflowWrap: 'anywhere' }}>
        {of}
      </Text>
      <Box mt="auto">
        <ShareBar percent={percent} isBad={word === 'Not delivered'} />
      </Box>
    </Card>
  );
}
