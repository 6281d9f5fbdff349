import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { statsAnswer } from '../../src/http/stats/stats.ts';

const page = await readFile(new URL('../../../docs/statistics.md', import.meta.url), 'utf8');
const facts = await readFile(new URL('../../../docs/spec/facts.md', import.meta.url), 'utf8');

const section = (text: string, from: string, to: string): string => text.split(from)[1]!.split(to)[0]!;
const firstCells = (table: string): string[] => [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);

const answered = firstCells(section(page, '## Members', 'Some members that other'));
const absent = firstCells(section(page, 'Some members that other', '## Attributions'));

/** The members of a block of figures, as the shape of the reply has them. */
function membersOfShape(): string[] {
  const { platforms } = (statsAnswer as any).properties.data.patternProperties['^.*$'].items.properties;
  const { locales } = platforms.patternProperties['^.*$'].properties;
  const { all_variations: block } = locales.properties.all_locales.properties.variations.properties;
  return Object.entries<any>(block.properties).flatMap(([name, { properties, patternProperties }]) => {
    const members = properties ?? patternProperties?.['^.*$'].properties;
    return members ? Object.keys(members).map((member) => `${name}.${member}`) : [name];
  });
}

test('every figure that is answered is documented, and no other', () => {
  expect(answered.toSorted()).toEqual(membersOfShape().toSorted());
});

test('every member of fact 7 is answered, or listed as absent', () => {
  const rows = section(facts, '| Block | Keys |', 'Rates are percentages').matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
  const published = [...rows].flatMap(([, block, keys]) => {
    const members = [...keys!.matchAll(/`(\w+)`/g)].map(([, member]) => `${block}.${member}`);
    return members.length > 0 ? members : [block!];
  });
  expect(published.length).toBeGreaterThan(30);
  expect(published.filter((member) => !answered.includes(member)).toSorted()).toEqual(absent.toSorted());
});
