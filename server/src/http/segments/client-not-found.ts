import { ServiceError } from '../../domain/errors.ts';
import type { VendorHeaders } from '../vendor-headers.ts';

/** The headers name another workspace than the credentials, or none, under the names that this service answers with. */
export function clientNotFound(vendorHeaders: VendorHeaders, detail: string): ServiceError {
  const field = vendorHeaders.spell('SVC-APPKEY or SVC-DBNAME');
  return new ServiceError('SEGMENT_CLIENT_NOT_FOUND', { field, detail });
}
