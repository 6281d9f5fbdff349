import { Type } from 'typebox';
import { dropReasons } from '../../domain/triggers/drop-reason.ts';
import { triggerStates } from '../../domain/triggers/told-trigger.ts';
import { steps } from '../../domain/explain/explain-run.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';

export const explainQuery = Type.Object({
  customer_id: Type.String({ maxLength: 512, description: 'Whom it is about' }),
  run_id: Type.Optional(Type.String({ description: 'One run; default: the newest 20' })),
});

const nullable = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const step = named('ExplanationStep', codeShape(steps, 'What decided'));

const device = Type.Object({
  device_id: nullable("The app's name of the device; null when it is there no more"),
  platform: Type.String(),
  step,
  explanation: Type.String(),
  code: nullable("The provider's word, or why it was held"),
  attempts: Type.Integer(),
  at: nullable('When that was stored, ISO 8601'),
  until: nullable('Until when it waits, ISO 8601'),
  variation: nullable('variation_1, variation_2 …; null where the campaign has one'),
  locale: nullable('default or a language tag; null where the campaign has one, or nothing was sent'),
});

const run = Type.Object({
  id: Type.String(),
  status: Type.String(),
  created_at: Type.String(),
  step,
  explanation: Type.String(),
  devices: Type.Array(device),
});

const trigger = Type.Object({
  event_name: Type.String(),
  occurred_at: Type.String(),
  due_at: nullable('ISO 8601; null where the event says no time'),
  state: codeShape(triggerStates, 'What became of it'),
  reason: Type.Union([codeShape(dropReasons, 'Why it was DROPPED'), Type.Null()]),
  run_id: nullable('The run it is in'),
  explanation: Type.String(),
});

export const explainAnswer = named(
  'DeliveryExplanation',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: Type.Object({
      campaign_id: Type.String(),
      campaign_name: Type.String(),
      campaign_status: Type.String(),
      next_send: nullable('ISO 8601'),
      customer_id: Type.String(),
      step: Type.String({ description: 'Of the newest run; NO_RUN or UNKNOWN_PERSON where there is none' }),
      explanation: Type.String(),
      runs: Type.Array(run),
      triggers: Type.Optional(
        Type.Array(trigger, {
          description: "Of an EVENT_TRIGGERED campaign: what the user's events started, newest first",
        }),
      ),
    }),
  }),
);
