import { Center, Loader } from '@mantine/core';

export function Waiting() {
  return (
    <Center mih={200}>
      <Loader role="progressbar" aria-label="Loading" />
    </Center>
  );
}
