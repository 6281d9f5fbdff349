import { timingMembers } from '../../domain/timing/push-timing.ts';
import type { Node } from './shapes.ts';

/** One alternative of a shape: its name in the document, the members it has no use for, and those it requires. */
type Alternative = { name: string; without: readonly string[]; requires: readonly string[] };
/** A shape whose member `by` decides which other members are read. */
type Split = { by: string; alternatives: Readonly<Record<string, Alternative>> };

const place = '#/components/schemas/';

/**
 * Replaces shapes whose one member decides about the others by a union that the member discriminates. A generated client then
 * rejects, when it is compiled, a push to users without users and a later push without a date. The routes themselves read
 * one shape, because they name unused members in a warning instead of rejecting them.
 */
export function splitShapes(schemas: Map<string, Node>): void {
  for (const [name, { by, alternatives }] of Object.entries(splits)) {
    const shape = schemas.get(name);
    if (shape === undefined) continue;
    const mapping: Record<string, string> = {};
    for (const [word, alternative] of Object.entries(alternatives)) {
      schemas.set(alternative.name, narrow(shape, { by, word, alternative }));
      mapping[word] = `${place}${alternative.name}`;
    }
    const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
    const { description } = shape;
    const described = description === undefined ? {} : { description };
    schemas.set(name, { ...described, oneOf, discriminator: { propertyName: by, mapping } });
  }
}

function narrow(shape: Node, { by, word, alternative }: { by: string; word: string; alternative: Alternative }): Node {
  const { properties, required } = shape as { properties: Record<string, Node>; required?: string[] };
  const kept = Object.entries(properties).filter(([name]) => !alternative.without.includes(name));
  const narrowed = kept.map(([name, member]) => [name, name === by ? { ...member, enum: [word] } : member]);
  return {
    ...shape,
    properties: Object.fromEntries(narrowed) as Node,
    required: [...new Set([...(required ?? []), ...alternative.requires])],
  };
}

const timingNames = Object.keys(timingMembers) as (keyof typeof timingMembers)[];
const withoutTimingOf = (type: 'soon' | 'later' | 'periodic'): string[] =>
  timingNames.filter((name) => !(timingMembers[name] as readonly string[]).includes(type));

const audiencesOf = (version: string): Split => ({
  by: 'targetAudience',
  alternatives: {
    'All Users': {
      name: `PushToAllUsers${version}`,
      without: ['customSegmentName', 'targetUserAttributes'],
      requires: [],
    },
    'Custom Segment': {
      name: `PushToSegment${version}`,
      without: ['targetUserAttributes'],
      requires: ['customSegmentName'],
    },
    User: { name: `PushToUsers${version}`, without: ['customSegmentName'], requires: ['targetUserAttributes'] },
  },
});

const splits: Readonly<Record<string, Split>> = {
  PushDelivery: {
    by: 'type',
    alternatives: {
      soon: { name: 'PushDeliverySoon', without: withoutTimingOf('soon'), requires: [] },
      later: { name: 'PushDeliveryLater', without: withoutTimingOf('later'), requires: ['date', 'time'] },
      periodic: {
        name: 'PushDeliveryPeriodic',
        without: withoutTimingOf('periodic'),
        requires: ['time', 'endDate', 'repeatAfter'],
      },
    },
  },
  PushRequestV2: audiencesOf('V2'),
  PushRequestV21: audiencesOf('V21'),
};
