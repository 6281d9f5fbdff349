import type { TemplateRules } from '../../fields/reading-rules.ts';
import { maxBlockDepth } from '../limits/push.ts';
import { parseExpression, parseWithoutChoice } from './expressions.ts';
import { NameUses, TemplateSyntaxError, tokenize, TokenStream } from './syntax.ts';
import type { Branch, Expression, Statement, Template, Piece, SourceName } from './syntax.ts';

const unavailable = ['macro', 'call', 'include', 'import', 'from', 'extends', 'block', 'filter', 'with', 'autoescape'];

/** Parses a template. @returns the template, or what is wrong with it and on which line */
export function parseTemplate(source: string): { template: Template } | { fault: string } {
  try {
    const uses = new NameUses();
    const statements = new TemplateReader(tokenize(source), { uses, end: source.length }).readAll();
    return { template: { statements, references: uses.references() } };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    const line = source.slice(0, error.at).split('\n').length;
    return { fault: line === 1 ? error.message : `line ${line}: ${error.message}` };
  }
}

type Tag = { name: string; tokens: TokenStream; at: number };

class TemplateReader {
  readonly #pieces: readonly Piece[];
  readonly #uses: NameUses;
  readonly #end: number;
  #place = 0;
  #depth = 0;

  constructor(pieces: readonly Piece[], { uses, end }: { uses: NameUses; end: number }) {
    this.#pieces = pieces;
    this.#uses = uses;
    this.#end = end;
  }

  readAll(): Statement[] {
    const { body, stop } = this.#body([]);
    if (stop) throw new TemplateSyntaxError(`"${stop.name}" is not expected`, stop.at);
    return body;
  }

  /** Parses statements up to one of the tags, and consumes the tag. */
  #body(stops: readonly string[]): { body: Statement[]; stop: Tag | undefined } {
    this.#depth += 1;
    if (this.#depth > maxBlockDepth)
      throw new TemplateSyntaxError('is nested too deeply', this.#pieces[this.#place]?.at ?? 0);
    const body: Statement[] = [];
    for (;;) {
      const piece = this.#pieces[this.#place];
      this.#place += 1;
      if (!piece) {
        if (stops.length > 0) throw new TemplateSyntaxError(`"${stops.at(-1)!}" is missing`, this.#end);
        return { body, stop: undefined };
      }
      if (piece.kind === 'text') {
        body.push({ kind: 'text', text: piece.text });
        continue;
      }
      const tokens = new TokenStream(piece.tokens, piece.end);
      if (piece.kind === 'print') {
        body.push({ kind: 'print', value: this.#whole(tokens) });
        continue;
      }
      const { at } = tokens;
      const tag: Tag = { name: tokens.name(), tokens, at };
      if (stops.includes(tag.name)) {
        this.#depth -= 1;
        return { body, stop: tag };
      }
      body.push(this.#statement(tag));
    }
  }

  #statement({ name, tokens, at }: Tag): Statement {
    if (name === 'if') return this.#if(tokens);
    if (name === 'for') return this.#for(tokens);
    if (name === 'set') return this.#set(tokens);
    const reason = unavailable.includes(name) ? 'is not available' : 'is not expected';
    throw new TemplateSyntaxError(`"${name}" ${reason}`, at);
  }

  #if(tokens: TokenStream): Statement {
    const branches: Branch[] = [];
    let condition = this.#whole(tokens);
    for (;;) {
      const { body, stop } = this.#body(['elif', 'else', 'endif']);
      branches.push({ condition, body });
      if (stop!.name === 'elif') {
        condition = this.#whole(stop!.tokens);
        continue;
      }
      stop!.tokens.expectEnd();
      return { kind: 'if', branches, otherwise: stop!.name === 'else' ? this.#last('endif') : [] };
    }
  }

  #for(tokens: TokenStream): Statement {
    const targets = this.#targets(tokens);
    tokens.expect('in');
    const items = parseWithoutChoice(tokens, this.#uses);
    this.#uses.loops += 1;
    const condition = tokens.take('if') ? parseExpression(tokens, this.#uses) : undefined;
    tokens.expectEnd();
    const { body, stop } = this.#body(['else', 'endfor']);
    this.#uses.loops -= 1;
    stop!.tokens.expectEnd();
    return {
      kind: 'for',
      targets,
      items,
      condition,
      body,
      otherwise: stop!.name === 'else' ? this.#last('endfor') : [],
    };
  }

  #last(end: string): Statement[] {
    const { body, stop } = this.#body([end]);
    stop!.tokens.expectEnd();
    return body;
  }

  #set(tokens: TokenStream): Statement {
    const targets = this.#targets(tokens);
    if (!tokens.current) throw new TemplateSyntaxError('"set" of a block is not available', tokens.at);
    tokens.expect('=');
    return { kind: 'set', targets, value: this.#whole(tokens) };
  }

  #targets(tokens: TokenStream): string[] {
    const targets: string[] = [];
    do {
      const { at } = tokens;
      const name = tokens.name();
      this.#uses.give(name, at);
      targets.push(name);
    } while (tokens.take(','));
    return targets;
  }

  #whole(tokens: TokenStream): Expression {
    const value = parseExpression(tokens, this.#uses);
    tokens.expectEnd();
    return value;
  }
}

/** Which texts of a campaign are templates (decision D39): all, none, or (by default) those with a marker. */
export type TemplateMode = 'ON' | 'OFF' | 'AUTO';

/** True if the text is a template in this mode. A text without markers is sent as it is, at no cost. */
export function isTemplate(text: string, mode: TemplateMode): boolean {
  if (mode === 'OFF') return false;
  return text.includes('{{') || text.includes('{%') || (mode === 'ON' && text.includes('{#'));
}

/** Returns the rules for templates in a body: which texts are templates, and from which sources they may read. */
export function makeTemplateRules(reading: { mode: TemplateMode; sources: readonly SourceName[] }): TemplateRules {
  return {
    isTemplate: (text) => isTemplate(text, reading.mode),
    fault: (text) => (isTemplate(text, reading.mode) ? templateFault(text, reading.sources) : undefined),
  };
}

/** Returns why a text cannot be a template of a campaign with these sources; undefined if it can. */
function templateFault(text: string, sources: readonly SourceName[]): string | undefined {
  const parsed = parseTemplate(text);
  if ('fault' in parsed) return `is not a valid template: ${parsed.fault}`;
  const absent = Object.keys(parsed.template.references).find((name) => !sources.some((one) => one === name));
  return absent === undefined
    ? undefined
    : `is not a valid template: ${absent} has values in campaigns that a business event starts`;
}
