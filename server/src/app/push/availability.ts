import type { PushCommand } from '../../domain/campaign/push-command.ts';
import { ServiceError } from '../../domain/errors.ts';

/**
 * Refuses, by name, what this version understands but cannot carry out yet: later and recurring sends.
 * The only place that does; it goes when they arrive.
 *
 * @throws ServiceError PUSH_PARAMETER_INVALID
 */
export function assertAvailable(command: PushCommand): void {
  if (command.timing.kind !== 'soon') {
    const reason = `${command.timing.kind} is not available in this version`;
    throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'campaignDelivery.type', reason });
  }
}
