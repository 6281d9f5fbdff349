import { listFilters } from './list-filters.ts';
import { numberFilters } from './number-filters.ts';
import type { Rule } from './template-syntax.ts';
import { textFilters } from './text-filters.ts';

/** What may follow `|`. */
export const filters: ReadonlyMap<string, Rule> = new Map([...textFilters, ...listFilters, ...numberFilters]);
