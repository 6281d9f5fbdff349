// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type Platform = 'ANDROID' | 'IOS' | 'WEB';
