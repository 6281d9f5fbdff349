export type SoftPrompt = {
  title: string;
  message: string;
  /** Caption of the button that leads to the browser's question. */
  accept: string;
  decline: string;
};

const declinedKey = 'carillon-declined';
const pauseMilliseconds = 30 * 86_400_000;

/** Shows a dialog, unless the browser has an answer already or the user declined lately. @returns true if `subscribe` ran */
export async function askSoftly(prompt: SoftPrompt, subscribe: () => Promise<void>): Promise<boolean> {
  if (!('Notification' in window) || Notification.permission !== 'default') return false;
  if (Date.now() - Number(localStorage.getItem(declinedKey) ?? 0) < pauseMilliseconds) return false;
  const dialog = document.createElement('dialog');
  dialog.className = 'carillon-prompt';
  const title = document.createElement('h2');
  title.id = 'carillon-prompt-title';
  title.textContent = prompt.title;
  dialog.setAttribute('aria-labelledby', title.id);
  const message = document.createElement('p');
  message.textContent = prompt.message;
  const makeButton = (text: string, value: string): HTMLButtonElement => {
    const button = document.createElement('button');
    button.textContent = text;
    // The click itself subscribes: browsers ask only in answer to one.
    button.addEventListener('click', () => dialog.close(value));
    return button;
  };
  dialog.append(title, message, makeButton(prompt.decline, 'no'), makeButton(prompt.accept, 'yes'));
  document.body.append(dialog);
  dialog.showModal();
  const answer = await new Promise<string>((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true });
  });
  dialog.remove();
  if (answer !== 'yes') {
    localStorage.setItem(declinedKey, String(Date.now()));
    return false;
  }
  await subscribe();
  return true;
}
