import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import { maxNamedApps } from '../campaigns/limits.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

/**
 * The apps that a campaign is for; that there are such apps is asked of the database. An empty list is never taken as absent,
 * as others are: it would reach everybody where nobody was named.
 */
export function readAppIds(reader: RequestReader, name: string): Pick<DeliverySettings, 'appIds'> {
  const sent = reader.members[name];
  if (Array.isArray(sent) && sent.length === 0) reader.invalid(name, 'must name an app');
  const appIds = reader.texts(name, { maxItems: maxNamedApps, maxCharacters: 64 });
  return appIds === undefined ? {} : { appIds };
}
