import { RenderError } from './budget.ts';
import type { Budget, RenderCause } from './budget.ts';
import { evaluate, Scope } from './evaluate.ts';
import type { Evaluation } from './evaluate.ts';
import { maxRenderedCharacters } from './limits.ts';
import type { SourceName, Statement, Template } from './template-syntax.ts';
import { isList, isTrue, itemsOf, Missing, mistake, toText } from './template-value.ts';
import type { AttributeSource, Value } from './template-value.ts';
import { unknownCase } from '../unknown-case.ts';

/** Each source with its attributes of one person. */
export type Sources = Record<SourceName, AttributeSource>;

export type RenderFault = { cause: RenderCause; reason: string };
export type Rendered = { text: string } | { fault: RenderFault };

/**
 * Renders a template for one person. Never throws; time, memory and output are bounded by the budget, whatever the
 * template says. The texts of one message share a budget.
 */
export function renderTemplate(
  { statements }: Template,
  { sources, budget }: { sources: Sources; budget: Budget },
): Rendered {
  const scope = new Scope();
  for (const [name, source] of Object.entries(sources)) scope.set(name, source);
  const output = { text: '' };
  try {
    renderAll(statements, { scope, budget, output });
    return output;
  } catch (error) {
    if (error instanceof RenderError) return { fault: { cause: error.renderCause, reason: error.message } };
    // Whatever it is, it must not fail the other users of the window.
    return { fault: { cause: 'UNKNOWN', reason: 'could not be rendered' } };
  }
}

type Rendering = Evaluation & { output: { text: string } };

function renderAll(statements: readonly Statement[], within: Rendering): void {
  for (const statement of statements) render(statement, within);
}

function render(statement: Statement, within: Rendering): void {
  switch (statement.kind) {
    case 'text':
      return write(statement.text, within);
    case 'print':
      return write(toText(evaluate(statement.value, within), within.budget), within);
    case 'set':
      return assign(statement.targets, { value: evaluate(statement.value, within), scope: within.scope });
    case 'if': {
      for (const { condition, body } of statement.branches)
        if (isTrue(evaluate(condition, within))) return renderAll(body, within);
      return renderAll(statement.otherwise, within);
    }
    case 'for':
      return renderLoop(statement, within);
    default:
      return unknownCase(statement);
  }
}

function write(text: string, { budget, output }: Rendering): void {
  budget.read(text.length);
  if (output.text.length + text.length > maxRenderedCharacters)
    throw new RenderError('LIMIT', `makes more than ${maxRenderedCharacters} characters`);
  output.text += text;
}

function renderLoop(loop: Extract<Statement, { kind: 'for' }>, within: Rendering): void {
  const { targets, condition } = loop;
  const enter = (item: Value): Scope => {
    const scope = new Scope(within.scope);
    assign(targets, { value: item, scope });
    return scope;
  };
  const all = itemsOf(evaluate(loop.items, within), within.budget);
  const items = condition ? all.filter((item) => isTrue(evaluate(condition, { ...within, scope: enter(item) }))) : all;
  if (items.length === 0) return renderAll(loop.otherwise, within);
  for (const [place, item] of items.entries()) {
    within.budget.spend(1);
    const scope = enter(item);
    scope.set('loop', jobRunOf(place, items));
    renderAll(loop.body, { ...within, scope });
  }
}

/** Jinja's `loop`. */
function jobRunOf(place: number, items: readonly Value[]): Value {
  const { length } = items;
  return {
    index: place + 1,
    index0: place,
    revindex: length - place,
    revindex0: length - place - 1,
    first: place === 0,
    last: place === length - 1,
    length,
    ...(place === 0 ? {} : { previtem: items[place - 1]! }),
    ...(place === length - 1 ? {} : { nextitem: items[place + 1]! }),
  };
}

function assign(targets: readonly string[], { value, scope }: { value: Value; scope: Scope }): void {
  const [only] = targets;
  if (targets.length === 1) return scope.set(only!, value);
  if (value instanceof Missing) throw value.error();
  if (!isList(value) || value.length !== targets.length) throw mistake(`${targets.length} values are expected`);
  for (const [place, target] of targets.entries()) scope.set(target, value[place]!);
}
