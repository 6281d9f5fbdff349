import { absentSources, sourceNames } from './template-syntax.ts';
import type { Expression, References, SourceName } from './template-syntax.ts';
import { TemplateSyntaxError } from './tokenize.ts';

/** Notes the names a template uses while it is read: what it takes from each source, and what nobody gives a value. */
export class NameUses {
  readonly #used: { name: string; at: number }[] = [];
  readonly #given = new Set<string>();
  readonly #read = new Map<SourceName, Set<string> | 'all'>();
  /** How many loops the reading is inside of. */
  loops = 0;

  use(name: string, at: number): void {
    if (name === 'loop' && this.loops > 0) return;
    if (isSource(name)) this.#read.set(name, this.#read.get(name) ?? new Set());
    else this.#used.push({ name, at });
  }

  /** A name that `set` or `for` gives a value. */
  give(name: string, at: number): void {
    if (isSource(name) || name === 'loop') throw new TemplateSyntaxError(`${name} cannot be given a value`, at);
    this.#given.add(name);
  }

  readMember(of: Expression, key: Expression): void {
    if (of.kind !== 'name' || !isSource(of.name)) return;
    if (key.kind === 'literal' && typeof key.value === 'string') this.read(of.name, key.value);
    else this.readAll(of);
  }

  read(source: SourceName, name: string): void {
    const names = this.#read.get(source) ?? new Set();
    if (names !== 'all') this.#read.set(source, names.add(name));
  }

  /** The names are known only at rendering. */
  readAll(of: Expression): void {
    if (of.kind === 'name' && isSource(of.name)) this.#read.set(of.name, 'all');
  }

  /** @throws TemplateSyntaxError for a name that can never have a value: a slip of the pen would fail for everybody */
  references(): References {
    for (const { name, at } of this.#used) {
      if (this.#given.has(name)) continue;
      const reason = absentSources.includes(name)
        ? `${name} is not available in this version`
        : `${name} is unknown; attributes of the user are written UserAttribute['${name}']`;
      throw new TemplateSyntaxError(reason, at);
    }
    return Object.fromEntries([...this.#read].map(([source, names]) => [source, names === 'all' ? 'all' : [...names]]));
  }
}

function isSource(name: string): name is SourceName {
  return sourceNames.some((one) => one === name);
}
