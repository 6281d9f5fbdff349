import type { Carillon as CarillonOfPage, InboxMessage, InboxUpdate } from './index.ts';
import { inboxStyle } from './inbox-style.ts';

/** What the element calls; the page passes its `Carillon`, so that both share one state. */
export type InboxSource = Pick<typeof CarillonOfPage, 'getInbox' | 'markInbox' | 'onInbox'>;

/** The texts of the element, for other languages. */
export type InboxTexts = {
  title: string;
  empty: string;
  signedOut: string;
  failed: string;
  retry: string;
  more: string;
  readAll: string;
  read: string;
  unread: string;
  archive: string;
  isUnread: string;
  count: (unread: number) => string;
};

const english: InboxTexts = {
  title: 'Inbox',
  empty: 'No messages',
  signedOut: 'Sign in to see your messages',
  failed: 'Messages could not be loaded',
  retry: 'Try again',
  more: 'Show more',
  readAll: 'Mark all as read',
  read: 'Mark as read',
  unread: 'Mark as unread',
  archive: 'Archive',
  isUnread: 'Unread',
  count: (unread) => (unread === 0 ? '' : `${unread} unread`),
};

export type CarillonInbox = HTMLElement & {
  /** Replaces some of the texts. */
  texts: Partial<InboxTexts>;
  readonly unreadCount: number;
};

/**
 * Defines the element `carillon-inbox`, once for a page: a feed of the signed-in user's messages that keeps itself up to date. It keeps
 * messages in memory only, and empties itself when the user signs out. Attributes: `tag`, `locale` (of times), `heading-level` (2).
 * It sends `carillon-unread` with `detail.count`, and a cancelable `carillon-open` with `detail.message` before it follows a link.
 */
export function defineInbox(source: InboxSource): void {
  if (customElements.get('carillon-inbox')) return;
  customElements.define('carillon-inbox', makeElement(source));
}

type View = 'loading' | 'signed-out' | 'failed' | 'list';

function makeElement(source: InboxSource): CustomElementConstructor {
  return class extends HTMLElement {
    readonly #root = this.attachShadow({ mode: 'open' });
    #texts = english;
    #messages: InboxMessage[] = [];
    #cursor: string | null = null;
    #unread = 0;
    #view: View = 'loading';
    // Answers of an earlier user or filter are dropped.
    #turn = 0;
    #stop: () => void = () => undefined;

    static readonly observedAttributes = ['tag', 'locale', 'heading-level'];

    get texts(): Partial<InboxTexts> {
      return this.#texts;
    }
    set texts(texts: Partial<InboxTexts>) {
      this.#texts = { ...english, ...texts };
      this.#render();
    }
    get unreadCount(): number {
      return this.#unread;
    }

    connectedCallback(): void {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(inboxStyle);
      this.#root.adoptedStyleSheets = [sheet];
      this.#stop = source.onInbox((update) => this.#apply(update));
      void this.#load();
    }
    disconnectedCallback(): void {
      this.#stop();
      this.#forget('loading');
    }
    attributeChangedCallback(): void {
      if (this.isConnected) void this.#load();
    }

    #forget(view: View): void {
      this.#turn += 1;
      [this.#messages, this.#cursor, this.#view] = [[], null, view];
      this.#count(0);
      this.#render();
    }

    #count(unread: number): void {
      if (unread === this.#unread) return;
      this.#unread = unread;
      this.dispatchEvent(new CustomEvent('carillon-unread', { detail: { count: unread } }));
    }

    /** Reads the first page, or the next one. */
    async #load(cursor?: string): Promise<void> {
      const turn = (this.#turn += 1);
      const tag = this.getAttribute('tag');
      try {
        const page = await source.getInbox({ ...(cursor ? { cursor } : {}), ...(tag ? { tag } : {}) });
        if (turn !== this.#turn) return;
        const known = cursor ? this.#messages : [];
        const ids = new Set(known.map(({ id }) => id));
        this.#messages = [...known, ...page.messages.filter(({ id }) => !ids.has(id))];
        [this.#cursor, this.#view] = [page.nextCursor, 'list'];
        this.#count(page.unreadCount);
      } catch (error) {
        if (turn !== this.#turn) return;
        const isOver = (error as { code?: string }).code === 'signed-out';
        if (isOver) return this.#forget('signed-out');
        // A list that is shown stays; it is read again with the next update.
        if (this.#messages.length === 0) this.#view = 'failed';
      }
      this.#render();
    }

    #apply({ isSignedIn, isComplete, messages, unreadCount }: InboxUpdate): void {
      if (!isSignedIn) return this.#forget('signed-out');
      if (!isComplete || this.#view !== 'list') return void this.#load();
      const tag = this.getAttribute('tag');
      const changed = new Map(messages.map((message) => [message.id, message]));
      const kept = this.#messages.filter(({ id }) => !changed.has(id));
      const own = messages.filter(({ isArchived, tags }) => !isArchived && (!tag || tags.includes(tag)));
      this.#messages = [...own, ...kept].sort((one, other) => +other.sentAt - +one.sentAt);
      this.#count(unreadCount);
      this.#render();
    }

    async #mark(message: InboxMessage, mark: { isRead?: boolean; isArchived?: boolean }): Promise<void> {
      const turn = this.#turn;
      try {
        const unread = await source.markInbox([message.id], mark);
        if (turn !== this.#turn) return;
        this.#messages = this.#messages.flatMap((one) =>
          one.id !== message.id ? [one] : mark.isArchived ? [] : [{ ...one, ...mark }],
        );
        this.#count(unread);
        this.#render();
      } catch {
        // Nothing was stored, so the list stays as it is.
      }
    }

    async #markAll(): Promise<void> {
      const [newest] = this.#messages;
      if (!newest) return;
      await source.markInbox({ allUntil: newest.sentAt }, { isRead: true }).catch(() => undefined);
      await this.#load();
    }

    #open(message: InboxMessage, event: Event): void {
      const opening = new CustomEvent('carillon-open', { detail: { message }, cancelable: true });
      if (!this.dispatchEvent(opening)) event.preventDefault();
      if (!message.isRead) void this.#mark(message, { isRead: true });
    }

    #render(): void {
      if (!this.isConnected) return;
      const focused = (this.#root.activeElement as HTMLElement | null)?.dataset['key'];
      const texts = this.#texts;
      const heading = make('h2', { part: 'heading', id: 'heading' }, texts.title);
      heading.role = 'heading';
      heading.ariaLevel = this.getAttribute('heading-level') ?? '2';
      const status = make('span', { part: 'count', role: 'status' }, texts.count(this.#unread));
      const header = make('header', { part: 'header' }, heading, status);
      if (this.#unread > 0 && this.#view === 'list')
        header.append(this.#button('all', { text: texts.readAll, press: () => void this.#markAll() }));
      this.#root.replaceChildren(header, ...this.#body());
      if (focused) this.#root.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }

    #body(): HTMLElement[] {
      const texts = this.#texts;
      const say = (text: string): HTMLElement => make('p', { part: 'note' }, text);
      if (this.#view === 'signed-out') return [say(texts.signedOut)];
      if (this.#view === 'failed')
        return [say(texts.failed), this.#button('retry', { text: texts.retry, press: () => void this.#load() })];
      const isEmpty = this.#view === 'list' && this.#messages.length === 0;
      if (isEmpty) return [say(texts.empty)];
      const feed = make('div', { part: 'feed', role: 'feed', 'aria-labelledby': 'heading' });
      feed.ariaBusy = String(this.#view === 'loading');
      feed.append(...this.#messages.map((message, index) => this.#article(message, index)));
      feed.addEventListener('keydown', (event) => this.#moveFocus(event));
      const more = { text: texts.more, press: () => void this.#load(this.#cursor ?? undefined) };
      return this.#cursor === null ? [feed] : [feed, this.#button('more', more)];
    }

    #article(message: InboxMessage, index: number): HTMLElement {
      const { id, title, message: text, imageUrl, sentAt, isRead } = message;
      const names = { title: `title-${index}`, text: `text-${index}` };
      const article = make('article', {
        ...{ part: isRead ? 'message' : 'message unread', tabindex: '0', 'data-key': id },
        ...{
          'aria-posinset': String(index + 1),
          'aria-setsize': this.#cursor === null ? String(this.#messages.length) : '-1',
        },
        ...{ 'aria-labelledby': names.title, 'aria-describedby': names.text },
      });
      const heading = make('h3', { part: 'title', id: names.title });
      heading.role = 'heading';
      heading.ariaLevel = String(Number(this.getAttribute('heading-level') ?? '2') + 1);
      const link = webAddress(message.link);
      if (link) {
        const anchor = make('a', { part: 'link', href: link, 'data-key': `open ${id}` }, title);
        anchor.addEventListener('click', (event) => this.#open(message, event));
        heading.append(anchor);
      } else heading.append(title);
      if (!isRead) heading.prepend(make('span', { part: 'dot', role: 'img', 'aria-label': this.#texts.isUnread }));
      const locale = this.getAttribute('locale') ?? undefined;
      const shown = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(sentAt);
      const image = webAddress(imageUrl);
      article.append(
        heading,
        make('p', { part: 'text', id: names.text }, text),
        ...(image ? [make('img', { part: 'image', src: image, alt: '', loading: 'lazy' })] : []),
        make('time', { part: 'time', datetime: sentAt.toISOString() }, shown),
        this.#actions(message),
      );
      return article;
    }

    #actions(message: InboxMessage): HTMLElement {
      const { id, title, isRead } = message;
      const { read, unread, archive } = this.#texts;
      const mark = (text: string, change: { isRead?: boolean; isArchived?: boolean }): HTMLElement => {
        const key = `${change.isArchived ? 'archive' : 'read'} ${id}`;
        return this.#button(key, { text, label: `${text}: ${title}`, press: () => void this.#mark(message, change) });
      };
      return make(
        'div',
        { part: 'actions' },
        mark(isRead ? unread : read, { isRead: !isRead }),
        mark(archive, { isArchived: true }),
      );
    }

    #button(key: string, { text, label, press }: { text: string; label?: string; press: () => void }): HTMLElement {
      const own = make('button', { type: 'button', part: 'button', 'data-key': key }, text);
      if (label) own.ariaLabel = label;
      own.addEventListener('click', press);
      return own;
    }

    /** As the pattern of a feed says: Page Down and Page Up go from message to message. */
    #moveFocus(event: KeyboardEvent): void {
      const step = { PageDown: 1, PageUp: -1 }[event.key];
      const articles = [...this.#root.querySelectorAll<HTMLElement>('article')];
      const at = articles.findIndex((article) => article.contains(this.#root.activeElement));
      if (step === undefined || at < 0) return;
      event.preventDefault();
      articles[at + step]?.focus();
    }
  };
}

/** A link that a page may follow: deep links of apps, and anything that could run in the page, are left out. */
function webAddress(link: string | null): string | undefined {
  if (link === null || !URL.canParse(link, location.href)) return undefined;
  const { href, protocol } = new URL(link, location.href);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

function make(name: string, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}
