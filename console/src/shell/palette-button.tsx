import { ActionIcon, Button, Kbd } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the palette. Ctrl K does the same, even while a field has the focus. */
export function PaletteButton({ workspaceId }: { workspaceId: string }) {
  const [isOpen, palette] = useDisclosure(false);
  useHotkeys([['mod+K', palette.open]], [], true);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        fw={400}
        leftSection={<IconSearch size={14} stroke={1.6} aria-hidden />}
        rightSection={<Kbd size="xs">{isMac ? '⌘ K' : 'Ctrl K'}</Kbd>}
        onMouseEnter={() => void loadPalette()}
        onClick={palette.open}
      >
        Search
      </Button>
      <ActionIcon variant="subtle" color="gray" size="lg" hiddenFrom="sm" aria-label="Search" onClick={palette.open}>
        <IconSearch size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
      {isOpen && (
        <Suspense fallback={null}>
          <Palette workspaceId={workspaceId} onClosed={palette.close} />
        </Suspense>
      )}
    </>
  );
}
