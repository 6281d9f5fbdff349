import type { DeliveryFilters } from '../api/deliveries.ts';
import type { DeliveryKey } from '../api/generated/deliveries.ts';
import { columnsOf, textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The search parameters of the delivery log: filters, page and opened row. */
export type DeliverySearch = {
  campaign?: string;
  user?: string;
  platform?: string;
  outcome?: string;
  code?: string;
  after?: string;
  row?: string;
  /** The newest rows appear by themselves. */
  live?: 'on';
  /** The shown columns; undefined for the default ones. */
  columns?: string[];
};

const names = ['campaign', 'user', 'platform', 'outcome', 'code', 'after', 'row'] as const;

export function readDeliverySearch(search: AddressSearch): DeliverySearch {
  const texts = names.flatMap((name) => {
    const text = textOf(search[name]);
    return text === undefined ? [] : [[name, text]];
  });
  return {
    ...Object.fromEntries(texts),
    ...(textOf(search.live) === 'on' ? { live: 'on' as const } : {}),
    ...columnsOf(search),
  };
}

export function toDeliveryFilters({ campaign, user, platform, outcome, code, after }: DeliverySearch): DeliveryFilters {
  return {
    ...(campaign === undefined ? {} : { campaignId: campaign }),
    ...(user === undefined ? {} : { customerId: user }),
    ...(platform === undefined ? {} : { platform }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(code === undefined ? {} : { code }),
    ...(after === undefined ? {} : { after }),
  };
}

export function writeRow({ day, bucket, userId, runId, deviceRowId }: DeliveryKey): string {
  return [day, bucket, userId, runId, deviceRowId].join('~');
}

export function readRow(row: string): DeliveryKey {
  const [day = '', bucket = '', userId = '', runId = '', deviceRowId = ''] = row.split('~');
  return { day, bucket: Number(bucket), userId, runId, deviceRowId };
}
