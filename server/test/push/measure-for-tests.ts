import { measureContent } from '../../src/engine/fan-out/measure-content.ts';
import type { MeasureContent } from '../../src/http/push/warn-of-sizes.ts';

/** As a node measures it that does not know its own address. */
export const measureForTests: MeasureContent = (shown) =>
  measureContent(shown, { dataPrefix: 'svc', publicUrl: undefined });
