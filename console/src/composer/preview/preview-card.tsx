import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PlatformPreview } from '../../api/generated/composer.ts';
import { messageOfContent } from '../../parts/phone/phone-message.ts';
import { Phone } from '../../parts/phone/phone.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import type { Platform } from '../page/campaign-body.ts';

export const previewNames: Record<Platform, string> = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Chrome' };

type PreviewCardProps = {
  platform: Platform;
  shown: PlatformPreview | undefined;
  isBusy: boolean;
  /** Why it is shown like this, or not at all. */
  problem: ReactNode;
};

/** A message as a device shows it, before it is pulled open and after. */
export function PreviewCard({ platform, shown, isBusy, problem }: PreviewCardProps) {
  const { name: appName } = useWorkspace();
  const content = shown?.content;
  const caption = <Caption platform={platform} size={shown?.payload} />;
  return (
    <Stack gap={6} component="article" aria-label={`Preview on ${previewNames[platform]}`} aria-busy={isBusy}>
      {content ? (
        <Phone message={messageOfContent({ platform, content, appName })} caption={caption} />
      ) : (
        <Group>{caption}</Group>
      )}
      {content && <Details platform={platform} content={content} />}
      {problem}
    </Stack>
  );
}

function Caption({ platform, size }: { platform: Platform; size: PlatformPreview['payload'] }) {
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

type Content = NonNullable<PlatformPreview['content']>;

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
