import { hash } from 'node:crypto';
import type { OpenedLink, PreferencePage } from '../app/topics/preference-page.ts';
import type { UserTopic } from '../app/topics/user-topics.ts';
import { preferenceTexts } from '../domain/preference-texts.ts';
import type { PreferenceLanguage, PreferenceTexts } from '../domain/preference-texts.ts';
import { unknownCase } from '../domain/unknown-case.ts';

export type RenderedPage = { status: number; html: string };

/** Why a call of the page gets no form. `unreadable`: the body is not the page's form. */
export type Refusal = Exclude<OpenedLink, { kind: 'valid' }> | { kind: 'unreadable' };

/** Renders the form with the topics of a person. */
export function renderForm(
  page: PreferencePage,
  { language, isSaved }: { language: PreferenceLanguage; isSaved: boolean },
): RenderedPage {
  const texts = preferenceTexts[language];
  const title = texts.title(page.workspaceName);
  const heading = `<h1 dir="auto">${escapeHtml(title)}</h1>`;
  const body =
    page.topics.length === 0
      ? `${heading}\n<p>${escapeHtml(texts.nothing)}</p>`
      : `${heading}\n${isSaved ? `<p class="saved" role="status">${escapeHtml(texts.saved)}</p>` : ''}\n${renderFields(page, texts)}`;
  return { status: 200, html: renderPage({ language, title, body }) };
}

export function renderRefusal(refusal: Refusal, language: PreferenceLanguage): RenderedPage {
  const texts = preferenceTexts[language];
  const { status, sentence } = answerOf(refusal, texts);
  const title = texts.settings;
  const body = `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(sentence)}</p>`;
  return { status, html: renderPage({ language, title, body }) };
}

function answerOf(refusal: Refusal, texts: PreferenceTexts): { status: number; sentence: string } {
  switch (refusal.kind) {
    case 'expired':
      return { status: 410, sentence: texts.expired };
    case 'invalid':
      return { status: 404, sentence: texts.invalid };
    case 'unreadable':
      return { status: 400, sentence: texts.unreadable };
    case 'too many':
      return { status: 429, sentence: texts.tooMany };
    default:
      return unknownCase(refusal);
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

export const pageHeaders = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', styles, 'base64')}'; form-action 'self'; base-uri 'none'; ` +
    "frame-ancestors 'none'",
  'cache-control': 'no-store',
  vary: 'accept-language',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

type Page = { language: PreferenceLanguage; title: string; body: string };

function renderPage({ language, title, body }: Page): string {
  return `<!doctype html>
<html lang="${language}">
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
}

function renderFields({ topics }: PreferencePage, texts: PreferenceTexts): string {
  return `<form method="post">
<fieldset>
<legend>${escapeHtml(texts.choose)}</legend>
${topics.map(renderTopic).join('\n')}
</fieldset>
<div class="actions">
<button class="main" name="do" value="save">${escapeHtml(texts.save)}</button>
<button name="do" value="leave-all">${escapeHtml(texts.leaveAll)}</button>
</div>
</form>`;
}

/** The language of names and descriptions is not known, so their direction follows their letters. */
function renderTopic({ key, name, description, isIn }: UserTopic): string {
  const described = description === '' ? '' : ` aria-describedby="about-${key}"`;
  const about = description === '' ? '' : `<p id="about-${key}" dir="auto">${escapeHtml(description)}</p>`;
  return `<div class="topic">
<input type="checkbox" id="topic-${key}" name="topic" value="${key}"${isIn ? ' checked' : ''}${described}>
<div><label for="topic-${key}" dir="auto">${escapeHtml(name)}</label>${about}</div>
<input type="hidden" name="shown" value="${key}:${isIn ? 'in' : 'out'}">
</div>`;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character]!);
}
