import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenedLink, PreferencePages } from '../app/topics/preference-page.ts';
import { maxPreferenceFormBytes } from '../domain/limits/topics.ts';
import { choosePreferenceLanguage } from '../domain/preference-texts.ts';
import { pageHeaders, renderForm, renderRefusal } from './preference-html.ts';
import type { Refusal, RenderedPage } from './preference-html.ts';
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
      if (link.kind !== 'valid') return refuse({ request, reply }, link);
      request.facts.workspaceId = link.subject.workspaceId;
      return work(link);
    }

    server.get(url, hidden, (request: PageRequest, reply) =>
      answer(request, reply, async ({ subject }) => {
        const page = await preferencePages.read(subject);
        if (!page) return refuse({ request, reply }, { kind: 'invalid' });
        const isSaved = (request.query as Record<string, unknown>).saved !== undefined;
        return sendPage(reply, renderForm(page, { language: languageOf(request), isSaved }));
      }),
    );

    server.post(url, { ...hidden, bodyLimit: maxPreferenceFormBytes }, (request: PageRequest, reply) =>
      answer(request, reply, async ({ subject }) => {
        const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
        const changed = readForm(form);
        if (!changed) return refuse({ request, reply }, { kind: 'unreadable' });
        if (!(await preferencePages.store(subject, changed))) return refuse({ request, reply }, { kind: 'invalid' });
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

function languageOf({ headers }: FastifyRequest) {
  return choosePreferenceLanguage(headers['accept-language']);
}

type Exchange = { request: FastifyRequest; reply: FastifyReply };

function refuse({ request, reply }: Exchange, refusal: Refusal): FastifyReply {
  if (refusal.kind === 'too many') reply.header('retry-after', String(refusal.retryAfterSeconds));
  return sendPage(reply, renderRefusal(refusal, languageOf(request)));
}

function sendPage(reply: FastifyReply, { status, html }: RenderedPage): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}
