import { providerNames } from '../../../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../../../src/domain/delivery/providers.ts';
import type { FieldAnswerName } from '../../../../src/domain/sandbox/faults.ts';
import { descriptors } from '../../../../src/providers/registry.ts';
import type { GivenAnswer } from '../../../../src/providers/simulator/simulator.ts';

const simulators = await Promise.all(providerNames.map((name) => descriptors[name].loadSimulator()));

/** Returns the response that a simulator gives in the place of the real provider. */
export function fieldAnswer(provider: ProviderName, name: FieldAnswerName, device: string): GivenAnswer {
  return simulators[providerNames.indexOf(provider)]!.fieldAnswer(name, device);
}
