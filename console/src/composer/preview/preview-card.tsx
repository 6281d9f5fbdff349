import { Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { PlatformPreview } from '../../api/generated/composer.ts';
import type { Platform } from '../page/campaign-body.ts';
import classes from './preview-card.module.css';

export const previewNames: Record<Platform, string> = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Chrome' };

type PreviewCardProps = {
  platform: Platform;
  shown: PlatformPreview | undefined;
  isBusy: boolean;
  /** Why it is shown like this, or not at all. */
  problem: ReactNode;
};

/** A message as a device shows it before it is pulled open. */
export function PreviewCard({ platform, shown, isBusy, problem }: PreviewCardProps) {
  const content = shown?.content;
  const size = shown?.payload;
  return (
    <Stack gap={6} component="article" aria-label={`Preview on ${previewNames[platform]}`} aria-busy={isBusy}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {previewNames[platform]}
        </Text>
        {size && (
          <Text size="xs" c="dimmed">
            {size.bytes.toLocaleString('en')} of {size.most.toLocaleString('en')} bytes
          </Text>
        )}
      </Group>
      {content && (
        <div className={classes.frame}>
          <div className={`${classes.notification} ${classes[platform]}`}>
            <Notification platform={platform} content={content} />
          </div>
        </div>
      )}
      {content && <Details platform={platform} content={content} />}
      {problem}
    </Stack>
  );
}

type Content = NonNullable<PlatformPreview['content']>;

function Notification({ platform, content }: { platform: Platform; content: Content }) {
  const details = content.basic_details as Record<string, string | undefined>;
  const advanced = (content.advanced ?? {}) as Record<string, string | undefined>;
  const image = platform === 'IOS' ? (isPicture(details) ? details.rich_media_value : undefined) : details.image_url;
  const buttons = ((content.buttons ?? []) as { btn_name?: string }[]).flatMap(({ btn_name: name }) => name ?? []);
  return (
    <>
      <div className={classes.app}>
        <span className={classes.icon} aria-hidden />
        <span>{platform === 'WEB' ? hostOf(details.redirect_url) : 'Your app'} · now</span>
      </div>
      <div className={classes.side}>
        <div className={classes.texts}>
          <p className={classes.title} data-shown="title">
            {details.title}
          </p>
          {platform === 'IOS' && details.subtitle !== undefined && (
            <p className={classes.subtitle}>{details.subtitle}</p>
          )}
          <p className={classes.message} data-shown="message">
            {details.message}
          </p>
          {platform === 'ANDROID' && details.summary !== undefined && (
            <p className={classes.subtitle}>{details.summary}</p>
          )}
        </div>
        {platform === 'WEB' && <Picture src={advanced.icon_url} className={classes.thumb!} name="icon" />}
        {platform === 'IOS' && <Picture src={image} className={classes.thumb!} name="image" />}
      </div>
      {platform !== 'IOS' && <Picture src={image} className={classes.image!} name="image" />}
      {buttons.length > 0 && (
        <div className={classes.buttons}>
          {buttons.map((name) => (
            <span key={name}>{name}</span>
          ))}
        </div>
      )}
    </>
  );
}

/** What does not show before a click: where it leads, and how long the message is. */
function Details({ platform, content }: { platform: Platform; content: Content }) {
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

function isPicture({ rich_media_type: kind }: Record<string, string | undefined>): boolean {
  return kind === 'Image' || kind === 'GIF';
}

function hostOf(address: string | undefined): string {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : 'Your site';
}

type PictureProps = { src: string | undefined; className: string; name: string };

/** A picture from wherever the campaign says; one that does not load says so. */
export function Picture({ src, className, name }: PictureProps) {
  const [failed, setFailed] = useState<string>();
  if (src === undefined || src === '') return null;
  // The console's own policy lets in what travels encrypted alone.
  if (!src.startsWith('https:') || failed === src)
    return (
      <Text size="xs" c="gray.7">
        {failed === src ? `The ${name} does not load here.` : `The ${name} is shown here over https only.`}
      </Text>
    );
  return <img src={src} alt="" className={className} referrerPolicy="no-referrer" onError={() => setFailed(src)} />;
}
