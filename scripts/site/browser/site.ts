// The script of every page of the documentation.
const menuButton = document.querySelector<HTMLButtonElement>('.menu')!;
menuButton.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  menuButton.setAttribute('aria-expanded', String(isOpen));
});

document.querySelector('.scheme')!.addEventListener('click', () => {
  const { dataset } = document.documentElement;
  const isDark = dataset.scheme ? dataset.scheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset.scheme = isDark ? 'light' : 'dark';
  localStorage.setItem('mantine-color-scheme-value', dataset.scheme);
});

// A page that was loaded over plain http from another machine has no access to the clipboard.
const copied = isSecureContext ? document.querySelectorAll<HTMLElement>('.code') : [];
for (const block of copied) {
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.className = 'copy';
  copy.textContent = 'Copy';
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre')!.textContent.trimEnd());
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 1_500);
  });
  block.append(copy);
}

const menu = document.querySelector<HTMLElement>('#menu')!;
const current = menu.querySelector<HTMLElement>('[aria-current]');
if (current) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;

// A node has a console and accepts calls; a copy of these pages elsewhere does not.
void fetch('/livez', { headers: { accept: 'application/json' } }).then(
  ({ ok }) => (document.querySelector<HTMLElement>('.console')!.hidden = !ok),
  () => undefined,
);

const input = document.querySelector<HTMLInputElement>('.search input')!;
input.addEventListener('focus', () => void import('./search.ts').then(({ startSearch }) => startSearch(input)), {
  once: true,
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (isTyping || (event.key !== '/' && !(event.key === 'k' && (event.ctrlKey || event.metaKey)))) return;
  event.preventDefault();
  input.focus();
});

if (document.body.dataset.missing !== undefined) {
  // An address says what its reader looked for: /docs/guide/install-docker.html.
  const words = decodeURIComponent(location.pathname).replace(/^\/docs\/|\.\w+$/g, '');
  input.value = words.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
  input.focus();
}

if (document.querySelector('[data-call]')) void import('./calls.ts').then(({ startCalls }) => startCalls());
