import { dataStates } from './data-states.ts';
import { outgoingStates } from './outgoing-states.ts';
import { sendingStates } from './sending-states.ts';
import type { StateMachine } from './state-machine.ts';

/** Everything that has states, in the order of docs/states.md. */
export const stateMachines: readonly StateMachine[] = [...sendingStates, ...dataStates, ...outgoingStates];
