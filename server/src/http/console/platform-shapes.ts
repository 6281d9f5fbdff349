import { platforms } from '../../domain/campaigns/content.ts';
import { oneOf } from './shape-parts.ts';

export const Platform = oneOf(platforms);
