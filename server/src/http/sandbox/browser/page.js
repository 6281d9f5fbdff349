import { SubscribeBrowserError, subscribeBrowser } from '/sandbox/browser/subscribe-browser.js';

const find = (id) => document.getElementById(id);
const say = (text) => {
  find('status').textContent = text;
};

find('subscribe').addEventListener('submit', (event) => {
  event.preventDefault();
  say('Asking the browser, which asks its push service …');
  subscribe(find('customer').value.trim()).then(say, (error) => say(explain(error)));
});

async function subscribe(customerId) {
  const { publicKey } = await call('/sandbox/browser/settings');
  const subscription = await subscribeBrowser({ workerUrl: '/sandbox/carillon-service-worker.js', publicKey });
  const { deviceId } = await call('/sandbox/browser/devices', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customerId, subscription: { endpoint: subscription.endpoint, keys: subscription.keys } }),
  });
  return `This browser is the device ${deviceId} of ${customerId}.`;
}

async function call(path, init) {
  const answer = await fetch(path, init);
  const body = await answer.json();
  if (!answer.ok) throw new Error([body.title, body.field, body.detail].filter(Boolean).join(' '));
  return body;
}

function explain(error) {
  if (!(error instanceof SubscribeBrowserError) || error.code !== 'push-service') return error.message;
  return [
    error.message,
    'A real push travels through the service of the browser’s maker (fcm.googleapis.com for Chrome,',
    'updates.push.services.mozilla.com for Firefox), and this network does not seem to let the browser reach it.',
    'The simulated browsers need no network: what they receive is at /sandbox/inbox.',
    `The browser’s own words: ${error.cause?.message ?? 'none'}`,
  ].join('\n');
}

function show({ title, message, campaign_id: campaignId }) {
  find('nothing').hidden = true;
  const item = document.createElement('li');
  const heading = document.createElement('strong');
  heading.textContent = title;
  item.append(heading, ` ${message} (campaign ${campaignId})`);
  find('arrived').prepend(item);
}

navigator.serviceWorker?.addEventListener('message', ({ data }) => {
  if (data?.type === 'carillon-push') show(data.payload);
});
