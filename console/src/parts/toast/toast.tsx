import { lazy, Suspense, useSyncExternalStore } from 'react';
import styles from './toast.module.css';
import { listToasts, watchToasts } from './toast-list.ts';

// Most visits of a screen change nothing.
const ToastCard = lazy(async () => ({ default: (await import('./toast-card.tsx')).ToastCard }));

/** Where toasts appear, once a page: below the header, on a phone above the lower edge. */
export function Toasts() {
  const toasts = useSyncExternalStore(watchToasts, listToasts);
  return (
    <div role="status" className={styles.place}>
      <Suspense fallback={null}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </Suspense>
    </div>
  );
}
