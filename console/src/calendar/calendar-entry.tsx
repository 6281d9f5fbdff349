import { Text, VisuallyHidden } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { CampaignCalendar } from '../api/generated/campaigns.ts';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './calendar.module.css';

type Entry = CampaignCalendar['entries'][number];

const words: Record<string, string> = {
  SENDING: 'Sending',
  QUEUED: 'Queued',
};

/** One sending, which leads to its campaign. */
export function CalendarEntry({ entry }: { entry: Entry }) {
  const { id: workspaceId } = useWorkspace();
  const { campaignId, name, status, deliveryType, local } = entry;
  const isRecurring = deliveryType !== 'ONE_TIME';
  return (
    <Link
      to="/w/$workspaceId/campaigns/$campaignId"
      params={{ workspaceId, campaignId }}
      search={{}}
      className={styles.entry!}
      data-status={words[status] === undefined ? 'planned' : 'going'}
      title={`${local.time} ${name}`}
    >
      <span className={styles.time}>{local.time}</span> <span className={styles.name}>{name}</span>
      {isRecurring && (
        <>
          <IconRepeat size={12} aria-hidden className={styles.repeat!} />
          <VisuallyHidden> recurring</VisuallyHidden>
        </>
      )}
      {words[status] !== undefined && (
        <Text span size="xs" c="dimmed">
          {' '}
          {words[status]}
        </Text>
      )}
    </Link>
  );
}
