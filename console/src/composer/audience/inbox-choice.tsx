import { Card, Stack } from '@mantine/core';
import { textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { ChoiceField, NumberField } from '../form-fields.tsx';

const path = 'advanced.inbox';

/** Asks where the messages go: to phones and browsers, to the inbox that an app or site shows, or both. */
export function InboxChoice() {
  const { body } = useCampaignForm();
  const isKept = textAt(body, `${path}.send_to`) !== '';
  return (
    <Card withBorder>
      <Stack gap="sm">
        <ChoiceField
          path={`${path}.send_to`}
          label="Where it goes"
          description="Your app or site must show the inbox"
          none="Push only"
          data={[
            { value: 'BOTH', label: 'Push, and the inbox of everyone' },
            { value: 'EITHER', label: 'Push, or the inbox of people whom no push reaches' },
            { value: 'INBOX', label: 'Inbox only' },
          ]}
          onChosen={(sendTo) => ({ [path]: sendTo === '' ? undefined : { send_to: sendTo } })}
        />
        {isKept && (
          <NumberField
            path={`${path}.inbox_expiry`}
            label="Hours in the inbox"
            description="30 days (720 hours) if empty; at most 90 days"
            min={1}
            max={2160}
          />
        )}
      </Stack>
    </Card>
  );
}
