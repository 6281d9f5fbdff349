import type { CampaignBody } from '@carillon/client';
import { useEffect, useState } from 'react';
import type { RefObject } from 'react';
import { mergePatchOf, sentBody } from './campaign-body.ts';

/** What is written, and what it was written upon: a campaign that was changed elsewhere is not written over. */
type Kept = { upon: CampaignBody; body: CampaignBody };

/** What was written in this browser and not saved; undefined: nothing, or upon another state of the campaign. */
export function readKeptBody(key: string, upon: CampaignBody): CampaignBody | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
    return kept !== null && mergePatchOf(sentBody(kept.upon), sentBody(upon)) === undefined ? kept.body : undefined;
  } catch {
    // What another version left there.
    return undefined;
  }
}

type Keeping = Kept & {
  key: string;
  isDirty: boolean;
  /** Set when it was saved or given up: nothing is kept then. */
  isLeaving: RefObject<boolean>;
};

/** Keeps what is written in this browser, so that a reload or a session that ended loses nothing. @returns whether it does */
export function useKeptBody({ key, upon, body, isDirty, isLeaving }: Keeping): boolean {
  const [isKept, setKept] = useState(false);
  useEffect(() => {
    if (isDirty) setKept(write(key, { upon, body }));
    else localStorage.removeItem(key);
  }, [key, upon, body, isDirty]);
  useEffect(
    () => () => {
      if (isLeaving.current) localStorage.removeItem(key);
    },
    [key, isLeaving],
  );
  return isDirty && isKept;
}

/** @returns false in a browser that keeps nothing */
function write(key: string, kept: Kept): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}
