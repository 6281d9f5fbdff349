import { Button, Card, Checkbox, Group, SimpleGrid, Stack, TagsInput, Text } from '@mantine/core';
import { listAt, readAt, textAt } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { ChoiceField, TextField } from '../form-fields.tsx';
import { operatorsOf, valueForm } from './goal-operators.ts';
import type { GoalType } from './goal-operators.ts';

const path = 'conversion_goal_details.goals';
const maxGoals = 5;

/** Conversion goals: events that count as success for 36 hours. */
export function GoalFields() {
  const { body, write, existing } = useCampaignForm();
  const goals = listAt<Record<string, unknown>>(body, path);
  // Fact 6.3: the goals of a live campaign cannot change.
  if (existing !== undefined && !['DRAFT', 'SCHEDULED'].includes(existing.status))
    return <Text size="sm">Goals cannot be changed once a campaign is live.</Text>;
  const change = (next: Record<string, unknown>[]) => write({ [path]: next.length === 0 ? undefined : next });
  return (
    <Stack gap="sm">
      <Text size="sm">
        What people do within 36 hours of receiving it counts as a conversion. The first goal is the primary one.
      </Text>
      {goals.map((_goal, index) => (
        <Card key={index} withBorder p="sm" role="group" aria-label={`Goal ${index + 1}`}>
          <Stack gap="xs">
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextField path={`${path}[${index}].goal_name`} label="Goal" placeholder="Bought" required />
              <TextField path={`${path}[${index}].goal_event_name`} label="Event" placeholder="purchase" required />
            </SimpleGrid>
            <AttributeFields at={`${path}[${index}].goal_event_attribute`} />
            <Group justify="flex-end">
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => change(goals.filter((_one, other) => other !== index))}
              >
                Remove goal {index + 1}
              </Button>
            </Group>
          </Stack>
        </Card>
      ))}
      {goals.length < maxGoals && (
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => change([...goals, { goal_name: '', goal_event_name: '' }])}
          >
            Add goal
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Counts only events whose attribute matches. */
function AttributeFields({ at }: { at: string }) {
  const { body, write } = useCampaignForm();
  const isAsked = readAt(body, at) !== undefined;
  const type: GoalType = readAt(body, `${at}.type`) === 'numeric' ? 'numeric' : 'string';
  const operator = textAt(body, `${at}.operator`);
  const begun = { name: '', type: 'string', operator: 'is', value: '' };
  return (
    <>
      <Checkbox
        label="Filter by an event attribute"
        checked={isAsked}
        onChange={({ currentTarget: { checked } }) => write({ [at]: checked ? begun : undefined })}
      />
      {isAsked && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextField path={`${at}.name`} label="Attribute" placeholder="price" required />
          <ChoiceField
            path={`${at}.type`}
            label="Type"
            data={[
              { value: 'string', label: 'Text' },
              { value: 'numeric', label: 'Number' },
            ]}
            onChosen={(next) => ({
              [`${at}.type`]: next,
              [`${at}.operator`]: operatorsOf(next as GoalType)[0],
              [`${at}.value`]: undefined,
            })}
          />
          <ChoiceField
            path={`${at}.operator`}
            label="Condition"
            data={operatorsOf(type).map((value) => ({ value, label: value }))}
            onChosen={(next) => ({
              [`${at}.operator`]: next,
              ...(valueForm(type, next) === valueForm(type, operator) ? {} : { [`${at}.value`]: undefined }),
            })}
          />
          <ValueField path={`${at}.value`} form={valueForm(type, operator)} />
        </SimpleGrid>
      )}
    </>
  );
}

function ValueField({ path: at, form }: { path: string; form: ReturnType<typeof valueForm> }) {
  const { body, write } = useCampaignForm();
  const error = useFault(at);
  switch (form) {
    case 'none':
      return null;
    case 'texts':
      return (
        <TagsInput
          label="One of"
          description="Press Enter after each"
          {...(error === undefined ? {} : { error })}
          value={listAt<string>(body, at)}
          onChange={(texts) => write({ [at]: texts.length === 0 ? undefined : texts })}
          acceptValueOnBlur
        />
      );
    case 'two numbers':
      return <TextField path={at} label="From, to" placeholder="10,20" required />;
    case 'number':
      return <TextField path={at} label="Number" placeholder="10" required />;
    case 'text':
      return <TextField path={at} label="Text" required />;
  }
}
