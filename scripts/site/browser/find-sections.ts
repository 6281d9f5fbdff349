import MiniSearch from 'minisearch';
import { phrases, stopWords, synonyms, weakWords } from './search-words.ts';

/** A section of a page as the site stores it: page title, heading, address, text, weight. */
export type Row = readonly [title: string, heading: string, address: string, text: string, weight: number];
export type Found = { row: Row; terms: string[] };

const maxFound = 12;
/** More sections of one page would push the other pages out of the list. */
const maxPerPage = 2;
/** If fewer sections contain every word, sections that contain some of the words follow them. */
const minComplete = 3;
/** A synonym counts less than the reader's own word. */
const synonymWeight = 0.6;
const boost = { heading: 4, title: 3, text: 1 };
/** BM25+ with half of the usual penalty for long texts: a long section about a subject beats a table that mentions it. */
const bm25 = { k: 1.2, b: 0.35, d: 0.5 };

/** Returns a function that finds the sections for what a reader typed, best first. */
export function makeFinder(rows: readonly Row[]): (typed: string) => Found[] {
  const index = new MiniSearch<{ id: number; heading: string; title: string; text: string }>({
    fields: ['heading', 'title', 'text'],
    // Names of the API can be found by their parts: SVC-APPKEY, campaign_name.
    tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''),
    processTerm: (word) => stemOf(word.toLowerCase()),
    searchOptions: {
      boost,
      bm25,
      prefix: (word) => word.length > 2,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
      weights: { prefix: 0.3, fuzzy: 0.15 },
      boostDocument: (id) => rows[id as number]![4],
    },
  });
  index.addAll(rows.map(([title, heading, , text], id) => ({ id, title, heading, text })));

  return (typed) => {
    const words = splitWords(typed);
    if (words.length === 0) return [];
    const queries = words.map(queryOf);
    const complete = index.search({ combineWith: 'AND', queries });
    const some = complete.length < minComplete ? index.search({ combineWith: 'OR', queries }) : [];
    const known = new Set(complete.map(({ id }) => id as number));
    const ordered = [...complete, ...some.filter(({ id }) => !known.has(id as number))];
    return limitPages(ordered.map(({ id, terms }) => ({ row: rows[id as number]!, terms })));
  };
}

function splitWords(typed: string): string[] {
  const text = phrases.reduce((joined, [pattern, word]) => joined.replace(pattern, word), typed.toLowerCase());
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const telling = words.filter((word) => !stopWords.has(word));
  const strong = telling.filter((word) => !weakWords.has(word));
  return [strong, telling, words].find(({ length }) => length > 0) ?? [];
}

type Query = Parameters<MiniSearch['search']>[0];

/** The word itself, or all words of one of its synonyms. */
function queryOf(word: string): Query {
  const meant = synonyms[word] ?? synonyms[stemOf(word)] ?? [];
  const less = Object.fromEntries(Object.entries(boost).map(([field, value]) => [field, value * synonymWeight]));
  return {
    combineWith: 'OR',
    queries: [
      word,
      ...meant.map((synonym) => ({
        queries: [synonym],
        combineWith: 'AND' as const,
        boost: less,
        prefix: false,
        fuzzy: false,
      })),
    ],
  };
}

/** Cuts the usual endings, so that "rejected" finds "rejects". */
function stemOf(word: string): string {
  if (word.length > 6 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 5 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function limitPages(found: readonly Found[]): Found[] {
  const counts = new Map<string, number>();
  const kept = found.filter(({ row }) => {
    const [page] = row[2].split('#', 1);
    const count = (counts.get(page!) ?? 0) + 1;
    counts.set(page!, count);
    return count <= maxPerPage;
  });
  return kept.slice(0, maxFound);
}
