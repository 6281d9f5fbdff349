/** The part of React Native that the package uses. It is not part of the package, whose users have the real one. */
declare module 'react-native' {
  export const NativeModules: Record<string, unknown>;
  export class NativeEventEmitter {
    constructor(module?: never);
    addListener(name: string, listener: (value: never) => void): { remove(): void };
  }
}
