import { Card, Grid, Stack, Title } from '@mantine/core';
import { DeliveryFields } from './delivery-fields.tsx';
import { GoalFields } from './goal-fields.tsx';
import { Moments } from './moments.tsx';
import { TimingFields } from './timing-fields.tsx';

/** When it is sent, how it travels, and what counts as success. */
export function ScheduleStep() {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
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
