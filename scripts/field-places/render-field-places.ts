import { everyField } from './every-field.ts';
import { gone, placesIn } from './field-places.ts';
import type { Column, FieldPlaces } from './field-places.ts';

type Table = (head: string[], rows: string[][]) => string;

/** Renders the places of each field of a push in the sent requests, as one table for each platform. */
export function renderFieldPlaces(table: Table): string {
  const render = (prefix: string, heads: Partial<Record<Column, string>>): string => {
    const shown = Object.keys(heads) as Column[];
    const rows = everyField
      .filter((row) => row.field.startsWith(prefix) && travels(row))
      .map((row) => [nameOf(row, prefix), ...shown.map((column) => describe(row, column))]);
    return table(['Field', ...Object.values(heads)], rows).trimEnd();
  };
  const inModes = { data: 'mode `data`', notification: 'mode `notification`', both: 'mode `both`' };
  const inEach = { ...inModes, hms: 'Huawei', adm: 'Amazon' };
  const others = everyField.filter((row) => !travels(row)).map((row) => [nameOf(row, ''), row.does ?? '']);
  return [
    `### \`payload.ANDROID\`: message of FCM, of Huawei Push Kit, and of Amazon Device Messaging\n\n${render('payload.ANDROID.', inEach)}`,
    `### \`payload.IOS\`: headers and payload of APNs\n\n${render('payload.IOS.', { IOS: 'Place' })}`,
    `### \`payload.WEB\`: headers and payload of Web Push\n\n${render('payload.WEB.', { WEB: 'For the worker', declarative: 'Declarative, in addition' })}`,
    `### \`payload.locales\`: for a user who reads one of them\n\n${render('payload.locales.', { ...inEach, IOS: 'iPhone', WEB: 'Browser', declarative: 'Declarative, in addition' })}`,
    `### \`payload.providerOverrides\`: changes to the finished request\n\n${render('payload.providerOverrides.', { ...inEach, IOS: 'iPhone', WEB: 'Browser' })}`,
    `### Of the campaign\n\n${render('advancedSettings.', { ...inEach, IOS: 'iPhone', WEB: 'Browser' })}`,
    `### In no message\n\n${table(['Field', 'What it says'], others).trimEnd()}`,
  ].join('\n\n');
}

function travels({ places, sameAs, does }: FieldPlaces): boolean {
  return (
    does === undefined && (sameAs !== undefined || Object.values(places).some((place) => Object.keys(place).length > 0))
  );
}

function nameOf({ field, of }: FieldPlaces, prefix: string): string {
  return `\`${field.slice(prefix.length)}\`${of === undefined ? '' : ` (${of})`}`;
}

function describe(row: FieldPlaces, column: Column): string {
  const { places, sameAs } = row;
  if (sameAs !== undefined && ['data', 'notification', 'both', 'adm'].includes(column) && column !== sameAs)
    return `as in mode \`${sameAs}\``;
  const here = Object.entries(placesIn(row, column));
  const already = column === 'declarative' ? Object.keys(places.WEB ?? {}) : [];
  const own = here.filter(([place]) => !already.includes(place));
  const list = (isGone: boolean): string =>
    own
      .filter(([, value]) => (value === gone) === isGone)
      .map(([place]) => `\`${place}\``)
      .join(', ');
  const asOneText = `\`data\` as in mode \`${sameAs}\`, as one text`;
  const hasText = column === 'hms' && sameAs !== undefined && sameAs !== 'notification';
  const stands = [hasText ? asOneText : '', list(false)].filter((part) => part !== '').join(', ');
  const leaves = list(true);
  return [stands, leaves === '' ? '' : `without ${leaves}`].filter((part) => part !== '').join('; ') || '–';
}
