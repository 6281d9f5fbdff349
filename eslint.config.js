import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/node_modules/**', '**/dist/**', '**/dist.making-*/**', '.stryker-tmp/**', 'data/**'] },
  tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: {
      // console output is for the command line only; everything else logs through pino.
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a literal union (CONTRIBUTING.md, rule 9).' },
        {
          selector: 'ExportDefaultDeclaration',
          message: 'Use a named export, so that a name stays the same everywhere.',
        },
      ],
      'max-params': ['error', { max: 3 }],
      eqeqeq: ['error', 'always'],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  {
    // Answers of the service are read as they come.
    files: ['**/test/**/*.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    // Node runs the first from inside the executable, where only CommonJS works; Expo and React Native load theirs as CommonJS.
    files: ['scripts/release/executable-main.cjs', 'sdk/react-native/*.js', 'samples/expo/app.config.js'],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: [
      '*.config.ts',
      'vitest.config.ts',
      'console/**/*.config.ts',
      'server/test/global-setup.ts',
      'server/test/**/global-setup.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
