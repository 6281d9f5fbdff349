import { CarillonError } from '@carillon/client';
import type { CampaignBody } from '@carillon/client';
import { Stack, Text, TextInput, Title, Group } from '@mantine/core';
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
import { platformPath, platforms, platformsOf, pushPath, readAt, sentBody, textAt } from './campaign-body.ts';
import type { Platform } from './campaign-body.ts';
import { useCampaignForm } from './campaign-form.ts';
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
        <PlatformPreviewOf key={platform} platform={platform} event={event} />
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

/** Renders each platform separately, so that a fault on one does not hide the others. */
function PlatformPreviewOf({ platform, event }: PlatformPreviewProps) {
  const { id: workspaceId } = useWorkspace();
  const { body } = useCampaignForm();
  const { customerId } = usePreviewedUser();
  const missing = missingTexts(body, platform);
  const asked = JSON.stringify({ campaign: campaignOf(body, platform), event });
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
    // Empty content is not rendered.
    enabled: missing.length === 0 && asked === settled,
  });
  if (missing.length > 0)
    return (
      <PreviewCard
        platform={platform}
        shown={undefined}
        isBusy={false}
        problem={
          <Text size="sm" c="dimmed">
            It is shown as soon as it has {missing.join(' and ')}.
          </Text>
        }
      />
    );
  const shown = preview.data?.platforms[platform.toLowerCase() as 'android' | 'ios' | 'web'];
  return (
    <PreviewCard
      platform={platform}
      shown={preview.error === null ? shown : undefined}
      isBusy={preview.isFetching || asked !== settled}
      problem={
        preview.error === null ? <Problem shown={shown} /> : <Refused error={preview.error} platform={platform} />
      }
    />
  );
}

/** The required fields that a platform's message does not have yet. */
function missingTexts(body: CampaignBody, platform: Platform): string[] {
  const needed = [
    ['basic_details.title', 'a title'],
    ['basic_details.message', 'a message'],
    ...(platform === 'WEB'
      ? [
          ['basic_details.redirect_url', 'an address'],
          ['advanced.icon_url', 'an icon'],
        ]
      : []),
  ] as const;
  const base = platformPath(body, platform);
  return needed.filter(([path]) => textAt(body, `${base}.${path}`) === '').map(([, word]) => word!);
}

/** Returns the campaign with one platform only. */
function campaignOf(body: CampaignBody, platform: Platform): CampaignBody {
  const push = { [platform.toLowerCase()]: readAt(body, platformPath(body, platform)) ?? {} };
  const isNested = pushPath(body) !== 'campaign_content.content.push';
  return sentBody({
    channel: 'PUSH',
    basic_details: { platforms: [platform] },
    campaign_content: { content: isNested ? { default: { variation_1: { push } } } : { push } },
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
      {field}: {reason}.
    </Notice>
  ) : (
    <Notice tone="error" title="Nothing would be sent to this user">
      {field}: {reason}, and no fallback can be rendered.
    </Notice>
  );
}

/** Content that is not complete enough to render. */
function Refused({ error, platform }: { error: Error; platform: Platform }) {
  const faults = error instanceof CarillonError ? error.faults : [];
  const prefix = new RegExp(
    `^campaign_content\\.content\\.(default\\.variation_1\\.)?push\\.${platform.toLowerCase()}\\.?`,
  );
  const words = faults.map(({ message }) => message.replace(prefix, '').replace(/^(basic_details|advanced)\./, ''));
  return (
    <Text size="sm" c="dimmed">
      {words.length > 0 ? words.join(' ') : failureText(error)}
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
  shown: PlatformPreview | undefined;
  isBusy: boolean;
  /** The reason for this rendering, or for showing none. */
  problem: ReactNode;
};

/** A message as a device shows it, collapsed and expanded. */
function PreviewCard({ platform, shown, isBusy, problem }: PreviewCardProps) {
  const { name: appName } = useWorkspace();
  const content = shown?.content;
  const caption = <PreviewCaption platform={platform} size={shown?.payload} />;
  return (
    <Stack gap={6} component="article" aria-label={`Preview on ${previewNames[platform]}`} aria-busy={isBusy}>
      {content ? (
        <Phone message={messageOfContent({ platform, content, appName })} caption={caption} />
      ) : (
        <Group>{caption}</Group>
      )}
      {content && <PreviewDetails platform={platform} content={content} />}
      {problem}
    </Stack>
  );
}

function PreviewCaption({ platform, size }: { platform: Platform; size: PlatformPreview['payload'] }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {previewNames[platform]}
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
