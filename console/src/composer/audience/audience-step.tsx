import { Card, Checkbox, Grid, Group, Radio, Stack, TagsInput, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Notice } from '../../parts/notice.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { allContents } from '../content/variants.ts';
import type { ShownContent } from '../content/variants.ts';
import { listAt, newContent, platformPath, platforms, platformsOf, readAt } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { ChoiceField, TextField } from '../form-fields.tsx';
import { AudienceCountCard } from './audience-count-card.tsx';
import {
  audienceKind,
  excludedSegments,
  filtersOf,
  includedOperator,
  includedSegments,
  namedUsers,
  ofEveryone,
  ofNewFilters,
  ofUsers,
  ofSegments,
  withoutSegments,
} from './audience.ts';
import type { AudienceKind } from './audience.ts';
import { FilterAudience } from './filter-audience.tsx';
import { InboxChoice } from './inbox-choice.tsx';
import { SegmentPicker } from './segment-picker.tsx';

const included = 'segmentation_details.included_filters';

/** The audience step: name, platforms, audience and its size. */
export function AudienceStep() {
  const { existing } = useCampaignForm();
  // Fact 6.3: the audience of a live campaign cannot change.
  const isLive = existing !== undefined && !['DRAFT', 'SCHEDULED'].includes(existing.status);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <Card withBorder>
            <Stack gap="sm">
              <TextField
                path="basic_details.name"
                label="Name"
                description="For you and your colleagues; recipients do not see it"
                placeholder="The title, if you leave it empty"
              />
              <TagsField />
              <PlatformChoice />
            </Stack>
          </Card>
          <Card withBorder>
            {isLive ? (
              <Text size="sm">
                The audience cannot be changed once a campaign is live. Duplicate the campaign to change it.
              </Text>
            ) : (
              <Stack gap="sm">
                <Recipients />
                <TopicChoice />
              </Stack>
            )}
          </Card>
          <InboxChoice />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <AudienceCountCard />
      </Grid.Col>
    </Grid>
  );
}

function PlatformChoice() {
  const { body } = useCampaignForm();
  const error = useFault('basic_details.platforms');
  const choose = usePlatforms();
  return (
    <Checkbox.Group
      label="Platforms"
      withAsterisk
      {...(error === undefined ? {} : { error })}
      value={platformsOf(body)}
      onChange={(chosen) => choose(platforms.filter((platform) => chosen.includes(platform)))}
    >
      <Group mt={4}>
        {platforms.map((platform) => (
          <Checkbox key={platform} value={platform} label={platformNames[platform]} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}

/** Only in a workspace with topics, or with a campaign whose topic was removed. */
function TopicChoice() {
  const { body, resources } = useCampaignForm();
  const chosen = body.advanced?.topic;
  const known = resources.topics.map(({ key, name, isInByDefault }) => ({
    value: key,
    label: `${name} (${isInByDefault ? 'everyone who did not leave it' : 'only people who joined it'})`,
  }));
  const removed = typeof chosen === 'string' && !known.some(({ value }) => value === chosen) ? [chosen] : [];
  if (known.length === 0 && removed.length === 0) return null;
  return (
    <ChoiceField
      path="advanced.topic"
      label="Topic"
      description="People who are not in the topic are left out"
      none="None: people cannot leave these messages"
      data={[...known, ...removed.map((value) => ({ value, label: `${value} (removed)` }))]}
    />
  );
}

const kinds: Record<AudienceKind, string> = {
  all: 'Everyone',
  segments: 'People in segments',
  filters: 'People who match filters',
  users: 'People by user id',
};

function Recipients() {
  const { body, write } = useCampaignForm();
  const found = audienceKind(body);
  const [chosen, setChosen] = useState(found);
  // An empty audience counts as segments, and so do filters that contain only segments or user ids.
  const kind = (found === 'segments' && chosen === 'users') || chosen === 'filters' ? chosen : found;
  const choose = (next: AudienceKind) => {
    setChosen(next);
    // The filter builder has its own exclusion. Elsewhere only segments can be excluded.
    const others = next !== 'filters' && excludedSegments(body) === undefined ? withoutSegments([]) : {};
    if (next === 'all') write({ ...ofEveryone(), ...others });
    if (next === 'segments') write({ ...ofSegments([], 'or'), ...others });
    if (next === 'users') write({ ...ofUsers([]), ...others });
    if (next === 'filters') write(ofNewFilters(body));
  };
  const trees = kind === 'filters' ? filtersOf(body) : undefined;
  if (kind === 'filters' && trees === undefined) return <OtherFilters onReplaced={() => choose('all')} />;
  return (
    <Stack gap="md">
      <Radio.Group label="For" value={kind} onChange={(next) => choose(next as AudienceKind)}>
        <Group mt={4}>
          {Object.entries(kinds).map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Group>
      </Radio.Group>
      {kind === 'segments' && <Included />}
      {kind === 'users' && <NamedUsers />}
      {trees === undefined ? <Excluded /> : <FilterAudience trees={trees} />}
    </Stack>
  );
}

function Included() {
  const { body, write } = useCampaignForm();
  const error = useFault(included, 'segmentation_details');
  const segments = includedSegments(body);
  const operator = includedOperator(body);
  return (
    <Stack gap="sm">
      <SegmentPicker
        title="In"
        verb="Include"
        segments={segments}
        error={error}
        onChanged={(next) => write(ofSegments(next, operator))}
      />
      {segments.length > 1 && (
        <Radio.Group
          label="Include people who are in"
          value={operator}
          onChange={(next) => write(ofSegments(segments, next as 'or' | 'and'))}
        >
          <Group mt={4}>
            <Radio value="or" label="any of them" />
            <Radio value="and" label="all of them" />
          </Group>
        </Radio.Group>
      )}
    </Stack>
  );
}

function Excluded() {
  const { body, write } = useCampaignForm();
  const error = useFault('segmentation_details.excluded_filters');
  const segments = excludedSegments(body) ?? [];
  const [isOpen, open] = useState(segments.length > 0);
  return (
    <>
      <Checkbox
        label="Exclude segments"
        checked={isOpen}
        onChange={({ currentTarget: { checked } }) => {
          open(checked);
          if (!checked) write(withoutSegments([]));
        }}
      />
      {isOpen && (
        <SegmentPicker
          title="Not in"
          verb="Exclude"
          segments={segments}
          error={error}
          onChanged={(next) => write(withoutSegments(next))}
        />
      )}
    </>
  );
}

function NamedUsers() {
  const { body, write } = useCampaignForm();
  const error = useFault(included, 'segmentation_details');
  return (
    <TagsInput
      label="User ids"
      description="Exactly as sent to the API; case-sensitive. Press Enter after each"
      {...(error === undefined ? {} : { error })}
      value={namedUsers(body)}
      onChange={(ids) => write(ofUsers(ids))}
      acceptValueOnBlur
      splitChars={[',', ' ']}
      maxTags={1000}
    />
  );
}

function OtherFilters({ onReplaced }: { onReplaced: () => void }) {
  const { check } = useCampaignForm();
  const error = useFault(included, 'segmentation_details.excluded_filters');
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">
        {'Everyone, except people who match filters'}
      </Title>
      <Text size="sm">{check?.audienceText ?? 'These filters were created through the API.'}</Text>
      {error !== undefined && <Notice tone="error">{error}</Notice>}
      <Checkbox label="Remove them and choose here" checked={false} onChange={onReplaced} />
    </Stack>
  );
}

const path = 'basic_details.tags';

function TagsField() {
  const { body, write } = useCampaignForm();
  const error = useFault(path);
  return (
    <TagsInput
      label="Tags"
      description="For finding campaigns. Press Enter after each"
      {...(error === undefined ? {} : { error })}
      value={listAt<string>(body, path)}
      onChange={(tags) => write({ [path]: tags.length === 0 ? undefined : tags })}
      acceptValueOnBlur
      splitChars={[',']}
    />
  );
}

/**
 * Chooses the platforms. The server accepts content of chosen platforms only. Content of a removed platform returns
 * with it, and a new platform starts with the texts of the first one.
 */
function usePlatforms(): (chosen: Platform[]) => void {
  const { body, write, setAside } = useCampaignForm();
  return (chosen) => {
    const before = platformsOf(body);
    const changes: Record<string, unknown> = { 'basic_details.platforms': chosen };
    for (const shown of allContents(body))
      for (const platform of platforms) {
        const path = platformPath({ body, shown }, platform);
        if (!chosen.includes(platform)) {
          setAside.set(path, readAt(body, path) ?? setAside.get(path));
          changes[path] = undefined;
        } else if (!before.includes(platform)) {
          changes[path] = setAside.get(path) ?? { ...newContent(platform), ...textsOf(before[0], shown) };
        }
      }
    write(changes);
  };

  function textsOf(first: Platform | undefined, shown: ShownContent): Record<string, unknown> {
    if (first === undefined) return {};
    const of = (name: string) => readAt(body, `${platformPath({ body, shown }, first)}.basic_details.${name}`);
    return { basic_details: { title: of('title') ?? '', message: of('message') ?? '' } };
  }
}
