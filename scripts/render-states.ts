import { stateMachines } from '../server/src/domain/state-machines.ts';
import type { StateMachine } from '../server/src/domain/state-machines.ts';

/** Renders one section per state machine: a diagram, which a forge draws itself and the site draws as a picture. */
export function renderStates(): Record<string, string> {
  return Object.fromEntries(stateMachines.map((machine) => [sectionOf(machine), renderDiagram(machine)]));
}

const sectionOf = ({ name }: StateMachine): string =>
  `states-of-${name.replace(/^an? /, '').replaceAll(' ', '-').toLowerCase()}`;

function renderDiagram({ name, begins, changes, ends = [] }: StateMachine): string {
  const arrows = Map.groupBy(
    [
      ...begins.map(({ state, by }) => ({ arrow: `[*] --> ${state}`, by })),
      ...changes.map(({ from, to, by }) => ({ arrow: `${from} --> ${to}`, by })),
      ...ends.map(({ state, by }) => ({ arrow: `${state} --> [*]`, by })),
    ],
    ({ arrow }) => arrow,
  );
  const lines = [...arrows].map(([arrow, causes]) => {
    // Mermaid allows neither a colon nor a semicolon in the label of an arrow.
    const words = [...new Set(causes.map(({ by }) => by))];
    return `    ${arrow} : ${words.join(', or ')}\n`;
  });
  return `\`\`\`mermaid\nstateDiagram-v2\n    accTitle: The states of ${name}\n${lines.join('')}\`\`\`\n`;
}
