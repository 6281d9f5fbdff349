import { Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';

/** Light or dark; until somebody chooses, what the system says. */
export function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  return (
    <Button variant="default" size="compact-sm" onClick={() => setColorScheme(other)}>
      {other === 'dark' ? 'Dark' : 'Light'}
    </Button>
  );
}
