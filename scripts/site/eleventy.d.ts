/** Types for the used part of a package that has none. */
declare module '@11ty/eleventy' {
  type Configuration = {
    setUseGitIgnore(isUsed: boolean): void;
    addTemplate(path: string, content: string, data: object): void;
  };
  export class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { quietMode: boolean; configPath: null; config: (configuration: Configuration) => void },
    );
    write(): Promise<unknown>;
  }
}
