import { Type } from 'typebox';

/** Refusal of the gateway, the same before every family (decision D16). */
export const gatewayError = Type.Object({
  code: Type.String({ description: 'ER001 invalid, ER007 scope missing, ER008 expired' }),
  target: Type.String(),
  message: Type.String(),
});
