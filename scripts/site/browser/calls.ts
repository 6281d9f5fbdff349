import { fillCall, makeCurl, noValues, showBody } from './make-curl.ts';
import type { Call, Values } from './make-curl.ts';
import { parseValues } from './parse-values.ts';
import { isSandbox, run, sign } from './run-calls.ts';
import type { Reply } from './run-calls.ts';

/** Stored for this tab only, until the tab is closed. */
const storageName = 'carillon-docs-values';
const labels: [keyof Values, string][] = [
  ['workspaceId', 'Workspace ID'],
  ['dbName', 'Database name'],
  ['pushKey', 'Push key'],
  ['dataKey', 'Data key'],
  ['campaignsKey', 'Campaigns key'],
  ['oauthKey', 'OAuth key'],
];

/** Shows examples with the reader's own ids, and executes them if this node is a sandbox. */
export async function startCalls(): Promise<void> {
  const root = document.body.dataset.root!;
  const canRun = isSandbox();
  const calls = (await (await fetch(`${root}assets/calls.json`)).json()) as Record<string, Call>;
  const kept = JSON.parse(sessionStorage.getItem(storageName) ?? '{}') as Partial<Values>;
  const values: Values = { ...noValues, ...kept };
  if (await canRun) values.base = location.origin;
  const blocks = [...document.querySelectorAll<HTMLElement>('[data-call]')].flatMap((element) => {
    const call = calls[element.dataset.call!];
    element.hidden = call === undefined;
    return call ? [makeBlock({ element, call, values })] : [];
  });
  const refresh = (): void => {
    sessionStorage.setItem(storageName, JSON.stringify({ ...values, base: noValues.base }));
    for (const block of blocks) void block.refresh();
  };
  const panel = makePanel(values, refresh);
  document.querySelector('h1')!.nextElementSibling!.after(panel);
  refresh();
  if (!(await canRun)) return;
  for (const block of blocks) block.offerRun();
}

type Placed = { element: HTMLElement; call: Call; values: Values };

function makeBlock({ element, call, values }: Placed): { refresh: () => Promise<void>; offerRun: () => void } {
  const code = element.querySelector('code')!;
  let body: string | undefined;
  const fill = async () => sign(fillCall(call, { values, body }), values);
  const refresh = async (): Promise<void> => {
    code.textContent = makeCurl(await fill());
  };

  function offerRun(): void {
    const bar = make('div', { className: 'run' });
    const editor = make('textarea', { spellcheck: false, hidden: true, ariaLabel: 'Body of the request' });
    const reply = make('div', { className: 'reply', ariaLive: 'polite' });
    const send = make('button', { type: 'button', className: 'primary', textContent: 'Run it' });
    send.addEventListener('click', async () => {
      send.disabled = true;
      showReply(reply, await run(await fill()));
      send.disabled = false;
    });
    bar.append(send);
    if (showBody(call) !== undefined) {
      const edit = make('button', { type: 'button', textContent: 'Change the body' });
      edit.addEventListener('click', () => {
        editor.value ||= fillCall(call, { values }).body!;
        editor.rows = Math.min(24, editor.value.split('\n').length + 1);
        editor.hidden = !editor.hidden;
      });
      editor.addEventListener('input', () => {
        body = editor.value;
        void refresh();
      });
      bar.append(edit);
    }
    bar.append(make('small', { textContent: 'at the sandbox of this node' }));
    element.after(bar, editor, reply);
  }
  return { refresh, offerRun };
}

function showReply(place: HTMLElement, { status, milliseconds, text, shown }: Reply): void {
  const line = make('p', { className: status !== undefined && status < 400 ? 'good' : 'bad' });
  line.textContent = status === undefined ? 'No reply' : `${status} in ${milliseconds} ms`;
  const block = make('pre', {});
  block.append(make('code', { textContent: text }));
  place.replaceChildren(line, block);
  if (shown === undefined) return;
  const phone = make('div', { className: 'phone' });
  phone.append(
    make('small', { textContent: shown.platform === 'WEB' ? 'In the simulated browser' : 'On the simulated phone' }),
    make('strong', { textContent: shown.title }),
    make('span', { textContent: shown.body }),
  );
  place.append(phone);
}

function makePanel(values: Values, changed: () => void): HTMLElement {
  const panel = make('details', { className: 'values', open: values.workspaceId === '' });
  panel.append(make('summary', { textContent: 'Fill the examples with your own ids' }));
  const fields = new Map<keyof Values, HTMLInputElement>();
  const paste = make('textarea', { rows: 2, spellcheck: false, ariaLabel: 'What the start printed' });
  paste.placeholder = 'Paste what the start printed, or what `carillon status --env` prints';
  paste.addEventListener('input', () => {
    Object.assign(values, parseValues(paste.value));
    for (const [name, field] of fields) field.value = values[name];
    changed();
  });
  panel.append(paste);
  const grid = make('div', { className: 'grid' });
  for (const [name, label] of labels) {
    const field = make('input', { value: values[name], spellcheck: false, autocomplete: 'off' });
    field.addEventListener('input', () => {
      values[name] = field.value.trim();
      changed();
    });
    fields.set(name, field);
    const labelled = make('label', { textContent: label });
    labelled.append(field);
    grid.append(labelled);
  }
  const clear = make('button', { type: 'button', textContent: 'Forget them' });
  clear.addEventListener('click', () => {
    for (const [name, field] of fields) values[name] = field.value = '';
    paste.value = '';
    changed();
  });
  const note = make('p', {});
  note.textContent =
    'They stay in this tab: signatures are computed here, nothing is sent until you run an example, and then to this node alone.';
  panel.append(grid, note, clear);
  return panel;
}

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
