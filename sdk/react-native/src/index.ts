import { NativeEventEmitter, NativeModules } from 'react-native';
import { makeCarillon } from './make-carillon';
import type { NativeCarillon } from './make-carillon';

const native = NativeModules['Carillon'] as NativeCarillon | undefined;

export const Carillon = makeCarillon(native, native && new NativeEventEmitter(native as never));

export { CarillonUnavailableError } from './make-carillon';
export type { Message, Notice, Value, Values } from './make-carillon';
