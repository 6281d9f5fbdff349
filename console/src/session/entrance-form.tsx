import { Button, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';

type EntranceFormProps = {
  title: string;
  about: ReactNode;
  /** On the button. */
  action: string;
  children: ReactNode;
  /** What is shown of a refusal; by default the words of the server. */
  failure?: (error: Error) => ReactNode;
  onSubmit: (field: (name: string) => string) => Promise<unknown>;
  onEntered: () => void;
};

/** A form of the entrance. What is typed stays in its fields and goes nowhere else. */
export function EntranceForm({ title, about, action, children, failure, onSubmit, onEntered }: EntranceFormProps) {
  const enter = useMutation({ mutationFn: onSubmit, onSuccess: onEntered });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        enter.mutate((name) => String(fields.get(name) ?? ''));
      }}
    >
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" component="div">
          {about}
        </Text>
        {enter.error !== null && (failure?.(enter.error) ?? <Failure error={enter.error} />)}
        {children}
        <Button type="submit" loading={enter.isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}
