import type { SegmentDependencies } from '../../app/segments/segment-dependencies.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { VendorHeaders } from '../vendor-headers.ts';

export type SegmentRouteDependencies = SegmentDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };
