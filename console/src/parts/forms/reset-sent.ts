/**
 * Empties a form whose entries were stored, if it still shows them: what was typed while the answer was on its way is the next
 * entry.
 */
export function resetSent(form: HTMLFormElement, sent: FormData): void {
  const shown = new FormData(form);
  const isAsSent = [...sent].every(([name, value]) => value instanceof File || shown.get(name) === value);
  if (isAsSent) form.reset();
}
