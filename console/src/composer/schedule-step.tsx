import { Card, Grid, Stack, Title } from '@mantine/core';
import { DeliveryFields } from './delivery-fields.tsx';
import { GoalFields } from './goal-fields.tsx';
import { Moments } from './moments.tsx';
import { PartFaults } from './part-faults.tsx';
import { TimingFields } from './timing-fields.tsx';

const wholes = [
  'scheduling_details.periodic_details',
  'scheduling_details.user_timezone_details',
  'delivery_controls',
  'advanced',
  'conversion_goal_details',
  'conversion_goal_details.goals',
];

/** When it is sent, how it travels, and what counts as success. */
export function ScheduleStep() {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <PartFaults paths={wholes} />
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              When
            </Title>
            <TimingFields />
          </Card>
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              Delivery
            </Title>
            <DeliveryFields />
          </Card>
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              Goals
            </Title>
            <GoalFields />
          </Card>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Moments />
      </Grid.Col>
    </Grid>
  );
}
