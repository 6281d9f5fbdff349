export { SubscribeBrowserError, subscribeBrowser, unsubscribeBrowser } from './subscribe-browser.ts';
export type { BrowserSubscription, SubscribeBrowserFault, SubscribeBrowserOptions } from './subscribe-browser.ts';
