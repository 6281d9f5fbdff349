import { measureContent } from '../../src/engine/fan-out/compose-message.ts';
import type { MeasureContent } from '../../src/http/push/routes.ts';

/** As a node measures it that does not know its own address. */
export const measureForTests: MeasureContent = (shown) =>
  measureContent(shown, { dataPrefix: 'svc', publicUrl: undefined });
