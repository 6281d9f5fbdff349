import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenedLink, PreferencePage, PreferencePages } from '../app/topics/preference-page.ts';
import type { UserTopic } from '../app/topics/user-topics.ts';
import { maxPreferenceFormBytes } from '../domain/limits/topics.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { callerAddress } from './server/call-origin.ts';
import type { RouteFamily } from './server/build-server.ts';

export type PreferencePageDependencies = { preferencePages: PreferencePages };

const url = '/preferences/:token';
const mediaType = 'application/x-www-form-urlencoded';
// The link is a credential, and the API log is for integrators.
const hidden = { schema: { hide: true }, config: { isUnrecorded: true } };

type PageRequest = FastifyRequest<{ Params: { token: string } }>;

/**
 * The page on which a person chooses topics, reached by a signed link. It has no script. It needs no session and no cookie: the link is
 * the credential, so another site cannot make a browser send it. A GET changes nothing, because mail scanners and previews open links.
 */
export function preferencePageRoutes({ preferencePages }: PreferencePageDependencies): RouteFamily {
  return async (server) => {
    server.addContentTypeParser(mediaType, { parseAs: 'string' }, (_request, text, done) => done(null, text));
    server.addHook('onRequest', async (_request, reply) => void reply.headers(pageHeaders));

    async function answer(
      request: PageRequest,
      reply: FastifyReply,
      work: (link: Extract<OpenedLink, { kind: 'valid' }>) => Promise<FastifyReply>,
    ): Promise<FastifyReply> {
      const link = preferencePages.open({ token: request.params.token, address: callerAddress(request) });
      if (link.kind !== 'valid') return refuse(reply, link);
      request.facts.workspaceId = link.subject.workspaceId;
      return work(link);
    }

    server.get(url, hidden, (request: PageRequest, reply) =>
      answer(request, reply, async ({ subject }) => {
        const page = await preferencePages.read(subject);
        if (!page) return refuse(reply, { kind: 'invalid' });
        const isSaved = (request.query as Record<string, unknown>).saved !== undefined;
        return sendPage(reply, {
          status: 200,
          title: titleOf(page),
          body: renderForm(page, isSaved ? 'saved' : 'open'),
        });
      }),
    );

    server.post(url, { ...hidden, bodyLimit: maxPreferenceFormBytes }, (request: PageRequest, reply) =>
      answer(request, reply, async ({ subject }) => {
        const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
        const changed = readForm(form);
        if (!changed) return refuse(reply, { kind: 'unreadable' });
        if (!(await preferencePages.store(subject, changed))) return refuse(reply, { kind: 'invalid' });
        // A reload of the page that follows sends nothing again.
        return reply.redirect(`/preferences/${request.params.token}?saved`, 303);
      }),
    );
  };
}

/**
 * Returns what the person changed: the boxes that differ from what the page showed. What was not touched stays as it is now, and
 * becomes no choice. Undefined for a body that is not the page's form, such as the `List-Unsubscribe=One-Click` of RFC 8058 §3.2.
 */
function readForm(form: URLSearchParams): Map<string, boolean> | undefined {
  if (!form.has('do') || !form.has('shown')) return undefined;
  const checked = new Set(form.getAll('topic'));
  const leavesAll = form.get('do') === 'leave-all';
  const changed = new Map<string, boolean>();
  for (const shown of form.getAll('shown')) {
    const end = shown.lastIndexOf(':');
    const [key, wasIn] = [shown.slice(0, end), shown.slice(end + 1) === 'in'];
    const isIn = !leavesAll && checked.has(key);
    if (leavesAll || isIn !== wasIn) changed.set(key, isIn);
  }
  return changed;
}

type Refused = Exclude<OpenedLink, { kind: 'valid' }> | { kind: 'unreadable' };

function refuse(reply: FastifyReply, link: Refused): FastifyReply {
  const send = (status: number, sentence: string): FastifyReply =>
    sendPage(reply, { status, title: 'Message settings', body: `<h1>Message settings</h1><p>${sentence}</p>` });
  switch (link.kind) {
    case 'expired':
      return send(410, 'This link has expired. Please open a newer message, or ask the sender for a new link.');
    case 'invalid':
      return send(404, 'This link is not valid. Please open the whole link, or ask the sender for a new one.');
    case 'unreadable':
      return send(400, 'Your choice was not saved. Please open the link again, and press Save on the page.');
    case 'too many':
      reply.header('retry-after', String(link.retryAfterSeconds));
      return send(429, 'Too many attempts. Please wait a minute, and try again.');
    default:
      return unknownCase(link);
  }
}

const styles = `
:root { color-scheme: light dark; --ink: #1c1c1a; --soft: #5b5b57; --ground: #fff; --line: #c9c9c3; --accent: #0b5c46; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #f2f2ee; --soft: #b8b8b2; --ground: #161615; --line: #4a4a46; --accent: #7fd6b9; --on: #10201b; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 2rem 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
fieldset { border: 0; margin: 0; padding: 0; }
legend { padding: 0; }
.topic { display: flex; gap: 0.75rem; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
.topic input { width: 1.5rem; height: 1.5rem; margin: 0; flex: none; accent-color: var(--accent); }
.topic label { font-weight: 600; }
.topic p { margin: 0; color: var(--soft); }
.saved { padding: 0.5rem 0.75rem; border: 1px solid var(--accent); border-radius: 0.375rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; }
button { font: inherit; min-height: 2.75rem; padding: 0 1rem; border-radius: 0.375rem; border: 1px solid var(--accent); background: none; color: var(--ink); cursor: pointer; }
button.main { background: var(--accent); color: var(--on); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const pageHeaders = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', styles, 'base64')}'; form-action 'self'; base-uri 'none'; ` +
    "frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

type Page = { status: number; title: string; body: string };

function sendPage(reply: FastifyReply, { status, title, body }: Page): FastifyReply {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${styles}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

function titleOf({ workspaceName }: PreferencePage): string {
  return `Messages from ${workspaceName}`;
}

function renderForm(page: PreferencePage, state: 'open' | 'saved'): string {
  const heading = `<h1>${escapeHtml(titleOf(page))}</h1>`;
  const saved = state === 'saved' ? '<p class="saved" role="status">Your choice is saved.</p>' : '';
  if (page.topics.length === 0) return `${heading}\n<p>There is nothing to choose from at present.</p>`;
  return `${heading}
${saved}
<form method="post">
<fieldset>
<legend>Choose which messages you want to get.</legend>
${page.topics.map(renderTopic).join('\n')}
</fieldset>
<div class="actions">
<button class="main" name="do" value="save">Save</button>
<button name="do" value="leave-all">Leave all</button>
</div>
</form>`;
}

function renderTopic({ key, name, description, isIn }: UserTopic): string {
  const described = description === '' ? '' : ` aria-describedby="about-${key}"`;
  const about = description === '' ? '' : `<p id="about-${key}">${escapeHtml(description)}</p>`;
  return `<div class="topic">
<input type="checkbox" id="topic-${key}" name="topic" value="${key}"${isIn ? ' checked' : ''}${described}>
<div><label for="topic-${key}">${escapeHtml(name)}</label>${about}</div>
<input type="hidden" name="shown" value="${key}:${isIn ? 'in' : 'out'}">
</div>`;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character]!);
}
