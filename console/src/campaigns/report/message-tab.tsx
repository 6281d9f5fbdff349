import { Group, NativeSelect, SimpleGrid, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { EmptyState } from '../../parts/empty-state.tsx';
import { messageOfContent } from '../../parts/phone/phone-message.ts';
import { Phone } from '../../parts/phone/phone.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { localeText, members, sentMessages } from './sent-messages.ts';
import type { PlatformMessage, SentMessage } from './sent-messages.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type MessageTabProps = { record: Record<string, unknown>; isRecurring: boolean };

/** The message on each platform, and its variations and locales. */
export function MessageTab({ record, isRecurring }: MessageTabProps) {
  const messages = sentMessages(record);
  const search = route.useSearch();
  const shown =
    messages.find(
      ({ locale, variation }) =>
        (search.locale === undefined || locale === search.locale) &&
        (search.variation === undefined || String(variation) === search.variation),
    ) ?? messages[0];
  if (shown === undefined || shown.platforms.length === 0)
    return <EmptyState title="No message yet">The message is shown here once it is written.</EmptyState>;
  return (
    <Stack gap="md">
      <ContentChoice messages={messages} shown={shown} />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {shown.platforms.map((message) => (
          <MessageCard key={message.platform} message={message} />
        ))}
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        As it was written: parts in double braces are filled in for each user.
        {isRecurring && ' Runs before the last change used the text of that time.'}
      </Text>
    </Stack>
  );
}

type ContentChoiceProps = { messages: readonly SentMessage[]; shown: SentMessage };

/** Chooses the variation or locale that is shown, if there are several. */
function ContentChoice({ messages, shown }: ContentChoiceProps) {
  const { locale: _locale, variation: _variation, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const locales = [...new Set(messages.flatMap(({ locale }) => locale ?? []))];
  const variations = [...new Set(messages.flatMap(({ variation }) => variation ?? []))];
  if (locales.length + variations.length === 0) return null;
  const chosen = {
    ...(shown.locale !== null && { locale: shown.locale }),
    ...(shown.variation !== null && { variation: String(shown.variation) }),
  };
  const choose = (next: object) => void navigate({ search: { ...search, ...chosen, ...next }, resetScroll: false });
  return (
    <Group gap="sm">
      {variations.length > 0 && (
        <NativeSelect
          label="Variation"
          value={String(shown.variation)}
          data={variations.map((variation) => ({ value: String(variation), label: `Variation ${variation}` }))}
          onChange={({ currentTarget }) => choose({ variation: currentTarget.value })}
        />
      )}
      {locales.length > 0 && (
        <NativeSelect
          label="Locale"
          value={shown.locale ?? ''}
          data={locales.map((locale) => ({ value: locale, label: localeText(locale) }))}
          onChange={({ currentTarget }) => choose({ locale: currentTarget.value })}
        />
      )}
    </Group>
  );
}

function MessageCard({ message: { platform, content } }: { message: PlatformMessage }) {
  const { name: appName } = useWorkspace();
  const details = members(content.basic_details);
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const leadsTo = text(details.redirect_url) || text(details.default_click_action_value);
  return (
    <Stack gap={6} component="article" aria-label={`Message on ${platformNames[platform]}`}>
      <Phone
        message={messageOfContent({ platform, content: { ...content, basic_details: details }, appName })}
        caption={
          <Text size="sm" fw={600}>
            {platformNames[platform]}
          </Text>
        }
      />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {leadsTo === '' ? 'A click opens the app.' : `A click opens ${leadsTo}.`}
        {content.template_backup !== undefined && ' It has a fallback where an attribute is missing.'}
      </Text>
    </Stack>
  );
}
