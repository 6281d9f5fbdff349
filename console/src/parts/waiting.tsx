import { Center, Loader } from '@mantine/core';

export function Waiting() {
  return (
    <Center mih={200}>
      <Loader aria-label="Loading" />
    </Center>
  );
}
