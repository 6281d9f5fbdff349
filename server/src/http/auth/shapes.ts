import { Type } from 'typebox';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import { gatewayErrors } from './present.ts';

const refusals = Object.values(gatewayErrors);

/** Refusal of the gateway, the same before every family (decision D16). */
export const gatewayError = named(
  'GatewayError',
  Type.Object({
    code: codeShape(
      refusals.map(({ code }) => code),
      'ER001 invalid, ER007 scope missing, ER008 expired',
    ),
    target: codeShape(
      refusals.map(({ target }) => target),
      'What was refused',
    ),
    message: Type.String(),
  }),
);
