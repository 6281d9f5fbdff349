/**
 * Empties a form after its entries were stored, if it still shows them. Text that was typed during the request stays.
 */
export function resetSent(form: HTMLFormElement, sent: FormData): void {
  const shown = new FormData(form);
  const isAsSent = [...sent].every(([name, value]) => value instanceof File || shown.get(name) === value);
  if (isAsSent) form.reset();
}
