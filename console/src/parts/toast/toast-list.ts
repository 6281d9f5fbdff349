export type Toast = {
  /** What happened: "Campaign paused". */
  text: string;
  /** Reverts the action and refreshes the screen; absent if the action cannot be reverted. */
  undo?: () => Promise<unknown>;
  /** For how long it can be undone. The toast shows the seconds that are left, and leaves when they are over. */
  undoSeconds?: number;
  /** Shown after the undo: "Campaign resumed". */
  undone?: string;
  /** An error, which stays until the user dismisses it. */
  isFailure?: true;
};

export type ShownToast = Toast & { id: number };

const maxShown = 3;
const watchers = new Set<() => void>();
let shown: readonly ShownToast[] = [];
let lastId = 0;

/** Shows for some seconds that an action was done, with its undo. */
export function showToast(toast: Toast): void {
  lastId += 1;
  change([...shown, { ...toast, id: lastId }].slice(-maxShown));
}

export function dismissToast(id: number): void {
  change(shown.filter((toast) => toast.id !== id));
}

export function listToasts(): readonly ShownToast[] {
  return shown;
}

export function watchToasts(onChanged: () => void): () => void {
  watchers.add(onChanged);
  return () => watchers.delete(onChanged);
}

function change(next: readonly ShownToast[]): void {
  shown = next;
  for (const onChanged of watchers) onChanged();
}
