import { useEffect, useState } from 'react';

type Draft<Value> = {
  value: Value;
  set: (next: Value) => void;
  /** What was begun another time is shown. */
  isRestored: boolean;
  /** Back to what it was at first. */
  discard: () => void;
  /** It is stored elsewhere now. */
  clear: () => void;
};

/** What somebody builds, kept in this browser until it is saved or discarded: a reload loses nothing. */
export function useDraft<Value>(key: string, first: Value): Draft<Value> {
  const [kept] = useState(() => read<Value>(key));
  const [value, setValue] = useState(kept ?? first);
  const [isRestored, setRestored] = useState(kept !== undefined);
  const [isCleared, setCleared] = useState(false);
  const isFirst = JSON.stringify(value) === JSON.stringify(first);
  useEffect(() => {
    if (isFirst || isCleared) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  }, [key, value, isFirst, isCleared]);
  return {
    value,
    set: setValue,
    isRestored,
    discard() {
      setValue(first);
      setRestored(false);
    },
    clear() {
      localStorage.removeItem(key);
      setCleared(true);
    },
  };
}

function read<Value>(key: string): Value | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    // What another version left there is no draft of this one.
    return undefined;
  }
}
