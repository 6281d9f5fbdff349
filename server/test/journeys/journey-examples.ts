/** Events by name, as triggers and journeys take them. */
export const did = (...names: string[]) => ({
  filter_operator: 'or',
  filters: names.map((action_name) => ({ filter_type: 'actions', action_name })),
});

/** A message to Android. */
export const message = (text: string, more: object = {}) => ({
  platforms: ['ANDROID'],
  campaign_content: {
    content: { push: { android: { template_type: 'BASIC', basic_details: { title: 'Shop', message: text } } } },
  },
  ...more,
});

export const send = (id: string, next: string | null, more: object = {}) => ({
  ...{ type: 'send', id, next },
  message: message(`Message ${id}`, more),
});

export const wait = (id: string, next: string | null, days = 1) => ({
  ...{ type: 'wait', id, next },
  duration: { value: days, unit: 'DAYS' },
});

/** The examples of docs/journeys.md, which a test compares with the page. */
export const welcome = {
  entry: { type: 'event', included_filters: did('Signed up') },
  first_step: 'hello',
  steps: [
    { type: 'send', id: 'hello', message: message('Welcome! Take a look around.'), next: 'two-days' },
    { type: 'wait', id: 'two-days', duration: { value: 2, unit: 'DAYS' }, next: 'morning' },
    { type: 'wait_until_time', id: 'morning', time: '09:30', next: 'saw-it' },
    {
      ...{ type: 'branch', id: 'saw-it', condition: { type: 'message', step: 'hello', outcome: 'clicked' } },
      ...{ next: 'offer', else_next: 'tips' },
    },
    { type: 'send', id: 'offer', message: message('10 % off your first order'), next: null },
    { type: 'send', id: 'tips', message: message('Three tips to get started'), next: null },
  ],
  goal: { included_filters: did('Ordered') },
};

export const abandonedCart = {
  entry: { type: 'event', included_filters: did('Added to cart') },
  first_step: 'buys',
  steps: [
    {
      ...{ type: 'wait_for_event', id: 'buys', included_filters: did('Ordered') },
      ...{ timeout: { value: 1, unit: 'HOURS' }, next: null, timeout_next: 'remind' },
    },
    {
      ...{ type: 'send', id: 'remind', message: message("You left {{EventAttribute['product']}} in your cart") },
      ...{ late: 'skip', next: null },
    },
  ],
  reentry: { type: 'after', after: { value: 7, unit: 'DAYS' } },
};

export const winBack = {
  entry: { type: 'api' },
  first_step: 'half',
  steps: [
    {
      ...{ type: 'split', id: 'half' },
      ways: [
        { percent: 50, next: 'coupon' },
        { percent: 50, next: 'reminder' },
      ],
    },
    { type: 'send', id: 'coupon', message: message('We miss you: here are 5 €'), next: 'comes' },
    { type: 'send', id: 'reminder', message: message('Here is what is new'), next: 'comes' },
    {
      ...{ type: 'wait_for_event', id: 'comes', included_filters: did('Opened app') },
      ...{ timeout: { value: 14, unit: 'DAYS' }, next: 'active', timeout_next: 'lost' },
    },
    { type: 'update', id: 'active', attributes: { stage: 'active' }, next: null },
    { type: 'update', id: 'lost', attributes: { stage: 'lost' }, next: null },
  ],
};
