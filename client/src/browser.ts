export { SubscribeBrowserError, subscribeBrowser } from './subscribe-browser.ts';
export type { BrowserSubscription, SubscribeBrowserFault, SubscribeBrowserOptions } from './subscribe-browser.ts';
