import { ActionIcon } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useId, useRef, useState } from 'react';
import { consoleClient } from '../console.ts';
import { useMay } from '../session/use-session.ts';
import styles from './alert-bell.module.css';

const loadList = () => import('./open-alerts.tsx');
const OpenAlerts = lazy(async () => ({ default: (await loadList()).OpenAlerts }));

// An alert opens within seconds of its problem; the screen of the alerts looks more often.
const lookMilliseconds = 15_000;

/** The number of open alerts, on every screen. It opens their list, whose code is loaded on demand. */
export function AlertBell({ workspaceId }: { workspaceId: string }) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const alerts = useQuery({
    queryKey: ['alerts', workspaceId],
    queryFn: () => consoleClient.alerts.list(workspaceId),
    enabled: useMay('overview.read'),
    refetchInterval: lookMilliseconds,
  });
  if (alerts.data === undefined) return null;
  const open = alerts.data.filter(({ closedAt }) => closedAt === null);
  const count = open.length.toLocaleString('en');
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        className={styles.bell!}
        aria-label={open.length === 0 ? 'Alerts: none' : `${count} open ${open.length === 1 ? 'alert' : 'alerts'}`}
        aria-expanded={isOpen}
        popoverTarget={id}
        onMouseEnter={() => void loadList()}
        onFocus={() => void loadList()}
      >
        <IconBell size={18} stroke={1.6} aria-hidden />
        {open.length > 0 && (
          <span className={styles.count} aria-hidden>
            {open.length > 9 ? '9+' : count}
          </span>
        )}
      </ActionIcon>
      {/* The browser closes it by Escape and by a click elsewhere, and returns the focus. */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label="Open alerts"
        className={styles.panel}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && (
          <Suspense fallback={null}>
            <OpenAlerts alerts={open} workspaceId={workspaceId} onChosen={() => panel.current?.hidePopover()} />
          </Suspense>
        )}
      </div>
    </>
  );
}
