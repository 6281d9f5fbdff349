import { registerPlugin } from '@capacitor/core';
import { makeCarillon } from './make-carillon';
import type { NativeCarillon } from './make-carillon';

export const Carillon = makeCarillon(registerPlugin<NativeCarillon>('Carillon'));

export type { Message, Notice, Value, Values } from './make-carillon';
