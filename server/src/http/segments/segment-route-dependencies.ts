import type { SegmentUseCases } from '../../app/segments/segment-use-cases.ts';
import type { TokenUseCases } from '../../app/tokens/token-use-cases.ts';
import type { VendorHeaders } from '../vendor-headers.ts';

export type SegmentRouteDependencies = {
  segments: SegmentUseCases;
  tokens: TokenUseCases;
  vendorHeaders: VendorHeaders;
  serviceDomain?: string | undefined;
};
