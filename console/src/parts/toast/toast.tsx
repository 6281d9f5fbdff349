import { lazy, Suspense, useSyncExternalStore } from 'react';
import styles from './toast.module.css';
import { listToasts, watchToasts } from './toast-list.ts';

// Loaded separately, because most visits change nothing.
const ToastCard = lazy(async () => ({ default: (await import('./toast-card.tsx')).ToastCard }));

/** The toasts of the page: below the header, on a phone above the lower edge. */
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
