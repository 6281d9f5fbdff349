import { Carillon } from '/carillon.js';

const { appKey, host } = await (await fetch('/settings')).json();
await Carillon.start(appKey, host);

const say = (text) => (document.getElementById('status').textContent = text);
const on = (id, work, done) =>
  document.getElementById(id).addEventListener('click', () =>
    work().then(
      () => say(done),
      (error) => say(error.message),
    ),
  );

const signIn = async () => {
  const { userId, token } = await (await fetch('/sign-in', { method: 'POST' })).json();
  await Carillon.login(userId, token);
};

on('subscribe', () => Carillon.subscribe(), 'Subscribed.');
on('sign-in', signIn, 'Signed in as Ada.');
on('sign-out', () => Carillon.logout(), 'Signed out.');
on('buy', () => Carillon.track('Bought', { price: 4.5 }), 'Bought.');

// The token was too old, or the service lost this browser: the shop's server issues another one.
Carillon.onNotice((notice) => {
  if (notice === 'identity-needed') void signIn();
});
Carillon.onMessage(({ title, message }) => {
  const item = document.createElement('li');
  item.textContent = `${title}: ${message}`;
  document.getElementById('messages').prepend(item);
});
