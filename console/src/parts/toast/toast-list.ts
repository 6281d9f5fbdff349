export type Toast = {
  /** What was done, as one says it: "Campaign paused". */
  text: string;
  /** Takes it back by the route that does so, and renews what the screen shows. Left out where there is no way back. */
  undo?: () => Promise<unknown>;
  /** What is said once that is done: "Campaign resumed". */
  undone?: string;
  /** Something went wrong: it stays until it is dismissed. */
  isFailure?: true;
};

export type ShownToast = Toast & { id: number };

const maxShown = 3;
const watchers = new Set<() => void>();
let shown: readonly ShownToast[] = [];
let lastId = 0;

/** Says that something was done, for some seconds, and offers the way back. */
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
