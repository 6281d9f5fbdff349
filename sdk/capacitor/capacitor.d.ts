/** The part of Capacitor that the package uses. It is not part of the package, whose users have the real one. */
declare module '@capacitor/core' {
  export function registerPlugin<Plugin>(name: string): Plugin;
}
