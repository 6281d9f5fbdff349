import { CarillonError } from '@carillon/client';
import type { CampaignBody } from '@carillon/client';
import { SimpleGrid, Stack, Text, TextInput, Title, Group } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { PlatformPreview } from '../api/generated/composer.ts';
import { consoleClient } from '../console.ts';
import { failureText } from '../parts/failure.tsx';
import { Notice } from '../parts/notice.tsx';
import { messageOfContent } from '../parts/phone/phone-message.ts';
import { Phone } from '../parts/phone/phone.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { platformPath, platforms, platformsOf, readAt, sentBody, textAt } from './campaign-body.ts';
import type { Platform } from './campaign-body.ts';
import { useCampaignForm } from './campaign-form.ts';
import { variationCount } from './content/variants.ts';
import type { ShownContent } from './content/variants.ts';
import { fieldName } from './field-names.ts';
import { previewedContent } from './previewed-content.ts';
import classes from './previews.module.css';
import { PreviewUser, usePreviewedUser } from './preview-user.tsx';

const settleMilliseconds = 300;

/** Previews of each platform for one user, rendered by the engine's code. */
export function Previews() {
  const { body } = useCampaignForm();
  const [event, setEvent] = useState<Record<string, unknown>>({});
  // The previews show the user's attributes.
  if (!useMay('people.read')) return <Text size="sm">Your role cannot view people, so there are no previews.</Text>;
  return (
    <Stack gap="md" style={{ position: 'sticky', top: 72 }} component="section" aria-labelledby="previews">
      <Title order={2} size="h5" id="previews">
        What they see
      </Title>
      <PreviewUser />
      <PreviewEvent event={event} onChanged={setEvent} />
      {platformsOf(body).map((platform) => (
        <PlatformPreviews key={platform} platform={platform} event={event} />
      ))}
      <NotChosen />
      <Text size="xs" c="dimmed">
        Rendered by the sending engine. The device decides how much of a long text it shows; a whole message may be up
        to 4 KB.
      </Text>
    </Stack>
  );
}

function NotChosen() {
  const { body } = useCampaignForm();
  const others = platforms.filter((platform) => !platformsOf(body).includes(platform));
  if (others.length === 0) return null;
  const names = others.map((platform) => previewNames[platform]).join(' and ');
  return (
    <Text size="sm">
      {names} {others.length === 1 ? 'is' : 'are'} not chosen.
    </Text>
  );
}

type PlatformPreviewProps = { platform: Platform; event: Record<string, unknown> };

/** The message on a platform: every variation in the language that is edited, side by side. */
function PlatformPreviews(props: PlatformPreviewProps) {
  const { body, shown } = useCampaignForm();
  const count = variationCount(body);
  if (count === 1) return <PlatformPreviewOf {...props} of={shown} />;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      {Array.from({ length: count }, (_, index) => (
        <PlatformPreviewOf key={index} {...props} of={{ ...shown, variation: index + 1 }} />
      ))}
    </SimpleGrid>
  );
}

/** Renders each platform separately, so that a fault on one does not hide the others. */
function PlatformPreviewOf({ platform, event, of }: PlatformPreviewProps & { of: ShownContent }) {
  const { id: workspaceId } = useWorkspace();
  const { body, check, isChecking } = useCampaignForm();
  const { customerId } = usePreviewedUser();
  const path = platformPath({ body, shown: of }, platform);
  const faults = (check?.faults ?? []).filter(({ field }) => field.startsWith(`${path}.`));
  const faulty = faults.map(({ field }) => field.slice(path.length + 1));
  const { content, missing } = previewedContent(readAt(body, path), { platform, faulty });
  const asked = JSON.stringify({ campaign: campaignOf(content, platform), event });
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const preview = useQuery({
    queryKey: ['preview', workspaceId, customerId, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.preview({
        workspaceId,
        ...(JSON.parse(settled) as { campaign: CampaignBody; event: Record<string, unknown> }),
        ...(customerId === undefined ? {} : { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', value: customerId }),
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    // The check says which members have a fault, so the preview waits for it.
    enabled: !isChecking && asked === settled,
  });
  const rendered = preview.data?.platforms[platform.toLowerCase() as 'android' | 'ios' | 'web'];
  // The address of the placeholder leads nowhere, so its picture is not loaded.
  const drawn = missing.includes('an icon') && rendered ? withoutIcon(rendered) : rendered;
  const isInvalid = faults.some(({ issue }) => issue !== 'is required');
  return (
    <PreviewCard
      platform={platform}
      variation={variationCount(body) === 1 ? undefined : of.variation}
      shown={drawn}
      opens={!missing.includes('an address')}
      isBusy={preview.isFetching || asked !== settled || isChecking}
      problem={
        <>
          {missing.length > 0 && (
            <Text size="sm" c="dimmed">
              It still needs {list(missing)}.
            </Text>
          )}
          {isInvalid && <Text size="sm">Fields with an error are left out until they are correct.</Text>}
          {preview.error === null ? <Problem shown={rendered} /> : <Refused error={preview.error} />}
        </>
      }
    />
  );
}

function withoutIcon({ content, ...shown }: PlatformPreview): PlatformPreview {
  if (content === undefined) return shown;
  const { advanced: _icon, ...rest } = content;
  return { ...shown, content: rest };
}

const list = (words: string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;

/** Returns a campaign with one content for one platform. */
function campaignOf(content: Record<string, unknown>, platform: Platform): CampaignBody {
  return sentBody({
    channel: 'PUSH',
    basic_details: { platforms: [platform] },
    campaign_content: { content: { push: { [platform.toLowerCase()]: content } } },
  });
}

function Problem({ shown }: { shown: PlatformPreview | undefined }) {
  if (!shown?.failure) {
    const { bytes = 0, most = 0, maxEverywhere = 0 } = shown?.payload ?? {};
    if (bytes > most)
      return (
        <Notice tone="error" title="Too large">
          The provider takes {most.toLocaleString('en')} bytes; this message would be refused.
        </Notice>
      );
    return bytes > maxEverywhere ? (
      <Notice tone="warning" title="Too large for Firefox on Android">
        Firefox on Android takes {maxEverywhere.toLocaleString('en')} bytes; other browsers show this message.
      </Notice>
    ) : null;
  }
  const { field, reason } = shown.failure;
  return shown.outcome === 'FALLBACK' ? (
    <Notice tone="warning" title="The fallback is shown">
      {fieldName(field)}: {reason}.
    </Notice>
  ) : (
    <Notice tone="error" title="Nothing would be sent to this user">
      {fieldName(field)}: {reason}, and no fallback can be rendered.
    </Notice>
  );
}

/** The reason why the server rendered nothing, for example because the connection failed. */
function Refused({ error }: { error: Error }) {
  const faults = error instanceof CarillonError ? error.faults : [];
  return (
    <Text size="sm" c="dimmed">
      {faults.length > 0 ? 'The preview appears when the fields with an error are correct.' : failureText(error)}
    </Text>
  );
}

type PreviewEventProps = { event: Record<string, unknown>; onChanged: (event: Record<string, unknown>) => void };

/** Sample attributes of the campaign's business event, for the previews only. */
function PreviewEvent({ event, onChanged }: PreviewEventProps) {
  const { body, resources } = useCampaignForm();
  const named = textAt(body, 'basic_details.business_event');
  const attributes = resources.businessEvents.find(({ id, name }) => id === named || name === named)?.attributes ?? [];
  if (attributes.length === 0) return null;
  return (
    <Stack gap="xs" role="group" aria-label="Event attributes">
      <Text size="sm" fw={500}>
        Sample event
      </Text>
      {attributes.map(({ name, type }) => (
        <TextInput
          key={name}
          label={name}
          size="xs"
          value={shownValue(event[name])}
          onChange={({ currentTarget: { value } }) => {
            const { [name]: _before, ...rest } = event;
            onChanged(value === '' ? rest : { ...rest, [name]: valueOf(value, type) });
          }}
        />
      ))}
    </Stack>
  );
}

function shownValue(value: unknown): string {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function valueOf(text: string, type: string): unknown {
  if (type === 'array') return text.split(',');
  if ((type === 'int' || type === 'float') && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  return text;
}

const previewNames: Record<Platform, string> = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Chrome' };

type PreviewCardProps = {
  platform: Platform;
  /** The variation, if the campaign has several. */
  variation: number | undefined;
  shown: PlatformPreview | undefined;
  /** False while the address that a click opens is missing. */
  opens: boolean;
  isBusy: boolean;
  /** The reason for this rendering, or for showing none. */
  problem: ReactNode;
};

/** A message as a device shows it, collapsed and expanded. */
function PreviewCard({ platform, variation, shown, opens, isBusy, problem }: PreviewCardProps) {
  const { name: appName } = useWorkspace();
  const content = shown?.content;
  const name = `${previewNames[platform]}${variation === undefined ? '' : `, variation ${variation}`}`;
  const caption = <PreviewCaption name={name} size={shown?.payload} />;
  return (
    <Stack gap={6} component="article" aria-label={`Preview on ${name}`} aria-busy={isBusy}>
      {content ? (
        <Phone message={messageOfContent({ platform, content, appName })} caption={caption} />
      ) : (
        <>
          <Group>{caption}</Group>
          {isBusy && <div className={classes.waiting} aria-hidden />}
        </>
      )}
      {content && opens && <PreviewDetails platform={platform} content={content} />}
      {problem}
    </Stack>
  );
}

function PreviewCaption({ name, size }: { name: string; size: PlatformPreview['payload'] }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {size && (
        <Text size="xs" c="dimmed">
          {size.bytes.toLocaleString('en')} of {size.most.toLocaleString('en')} bytes
        </Text>
      )}
    </Group>
  );
}

type PreviewContent = NonNullable<PlatformPreview['content']>;

/** The parts that are invisible before a click: target and length. */
function PreviewDetails({ platform, content }: { platform: Platform; content: PreviewContent }) {
  const details = content.basic_details as Record<string, unknown>;
  const to = platform === 'WEB' ? details.redirect_url : details.default_click_action_value;
  const message = typeof details.message === 'string' ? [...details.message].length : 0;
  const pairs = (details.key_value_pairs ?? []) as { key: string; value: string }[];
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {typeof to === 'string' && to !== '' ? `A click opens ${to}. ` : 'A click opens the app. '}
      {pairs.length > 0 && `With ${pairs.map(({ key, value }) => `${key}=${value}`).join(', ')}. `}
      {message.toLocaleString('en')} characters.
    </Text>
  );
}
