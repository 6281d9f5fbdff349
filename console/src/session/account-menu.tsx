import { lazy, Suspense, useState } from 'react';
import { AccountButton } from './account-button.tsx';

const loadMenu = () => import('./opened-account-menu.tsx');
const OpenedAccountMenu = lazy(async () => ({ default: (await loadMenu()).OpenedAccountMenu }));

/** The account menu. It is loaded on demand, because it is a twentieth of the first load. */
export function AccountMenu() {
  const [isAsked, setAsked] = useState(false);
  const closed = (
    <AccountButton
      aria-haspopup="menu"
      aria-expanded={false}
      onMouseEnter={() => void loadMenu()}
      onFocus={() => void loadMenu()}
      onClick={() => setAsked(true)}
    />
  );
  return isAsked ? (
    <Suspense fallback={closed}>
      <OpenedAccountMenu />
    </Suspense>
  ) : (
    closed
  );
}
