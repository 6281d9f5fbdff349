import type { Command } from 'commander';
import { providerNames, providers } from '../domain/delivery/providers.ts';

/** Examples at the end of each command's help; a test parses each like the command line. */
const examples: Record<string, readonly string[]> = {
  start: ['start', 'start --port 8081 --data-dir ./carillon', 'start --production --role worker'],
  status: ['status', 'status --json', 'status --env > carillon.env'],
  'console-link': ['console-link', 'console-link --json'],
  doctor: ['doctor', 'doctor --json'],
  send: [
    'send --name "Your parcel" --users ada grace --title "On its way" --message "It arrives tomorrow." --watch',
    'send --name "Spring sale" --all --title "Spring sale" --message "20 % off" --deep-link shop://sale --dry-run',
    'send --file push.json --yes --json',
  ],
  import: ['import users.csv.gz --kind users', 'import events.jsonl --kind events --again'],
  'import campaigns': ['import campaigns campaigns.jsonl'],
  'import topics': ['import topics choices.csv'],
  check: ['check http://127.0.0.1:8080 --recording integration.har'],
  'keys list': ['keys list', 'keys list --json'],
  'keys create': ['keys create --kind push', 'keys create --kind oauth --name "Order service"'],
  'keys rotate': ['keys rotate 01a205d1deb61da051ccde15', 'keys rotate 01a205d1deb61da051ccde15 --overlap-hours 48'],
  'keys revoke': ['keys revoke 01a205d1deb61da051ccde15'],
  'export users': ['export users --out users.jsonl', 'export users --format csv --out users.csv'],
  'export devices': ['export devices --out devices.jsonl'],
  'export events': ['export events --out events.jsonl'],
  'export inbox': ['export inbox --out inbox.ndjson'],
  'export topics': ['export topics --format csv --out choices.csv'],
  'export segment': ['export segment "Spring buyers" --out buyers.csv --format csv'],
  'export campaign': ['export campaign 01a205d1deb61da051ccde15 ledger --out ledger.jsonl'],
  'segments list': ['segments list', 'segments list --json'],
  'segments create': [
    'segments create --name "Spring buyers" --attribute uid --type string --expiry-days 30 --file buyers.csv --watch',
    'segments create --name "Spring buyers" --attribute uid --type string --expiry-days 30 --url https://example.com/buyers.csv',
  ],
  'segments show': ['segments show "Spring buyers"'],
  'callbacks list': ['callbacks list', 'callbacks list --json'],
  'callbacks resend': ['callbacks resend 01a205d1deb61da051ccde15'],
  'callbacks secret': ['callbacks secret'],
  'journeys list': ['journeys list', 'journeys list --json'],
  'journeys import': ['journeys import welcome.json', 'journeys import welcome.json --name "Welcome 2026"'],
  'journeys export': ['journeys export 01a205d1deb61da051ccde15 --out welcome.json'],
  'journeys check': ['journeys check 01a205d1deb61da051ccde15'],
  'journeys publish': [
    'journeys publish 01a205d1deb61da051ccde15',
    'journeys publish 01a205d1deb61da051ccde15 --move old-step=new-step other-step=',
  ],
  'journeys pause': ['journeys pause 01a205d1deb61da051ccde15'],
  'journeys resume': ['journeys resume 01a205d1deb61da051ccde15'],
  'journeys stop': ['journeys stop 01a205d1deb61da051ccde15'],
  'journeys remove': ['journeys remove 01a205d1deb61da051ccde15'],
  'journeys figures': ['journeys figures 01a205d1deb61da051ccde15', 'journeys figures 01a205d1deb61da051ccde15 --json'],
  'event-streams list': ['event-streams list', 'event-streams list --json'],
  'event-streams add': [
    'event-streams add --url https://example.com/events',
    'event-streams add --url https://example.com/events --events delivered clicked --user-attributes city plan',
    'event-streams add --url https://events.s3.eu-central-1.amazonaws.com --region eu-central-1 --access-key-id AKIAEXAMPLE --secret-access-key-file s3.secret',
  ],
  'event-streams change': ['event-streams change 01a205d1deb61da051ccde15 --device-attributes platform app_id'],
  'event-streams remove': ['event-streams remove 01a205d1deb61da051ccde15'],
  'event-streams secret': ['event-streams secret 01a205d1deb61da051ccde15'],
  'event-streams dead': ['event-streams dead 01a205d1deb61da051ccde15'],
  'event-streams resend': [
    'event-streams resend 01a205d1deb61da051ccde15',
    'event-streams resend 01a205d1deb61da051ccde15 --batch 01a205d1deb61da051ccde16',
  ],
  'report-files list': ['report-files list', 'report-files list --json'],
  'report-files create': [
    'report-files create --from 2026-01-01 --to 2026-03-31',
    'report-files create --from 2026-01-01 --to 2026-03-31 --attribution CLICK_THROUGH --out first-quarter.jsonl.gz',
  ],
  'report-files download': [
    'report-files download 2026-01-01_2026-03-31-01a205d1deb61da051ccde15.jsonl.gz --out first-quarter.jsonl.gz',
  ],
  backup: ['backup --out ./carillon-monday', 'backup --out ./carillon-monday --key-out ./carillon.key'],
  'backup verify': ['backup verify carillon-monday', 'backup verify /backup/carillon-monday --json'],
  restore: ['restore --from ./carillon-monday', 'restore --from ./carillon-monday --campaigns resume --data-dir ./new'],
  'campaigns list': ['campaigns list', 'campaigns list --json'],
  'campaigns search': [
    'campaigns search --name spring --status SENT SENDING',
    'campaigns search --tag sale --created-from 2026-11-01 --page 2 --json',
  ],
  'campaigns show': ['campaigns show 01a205d1deb61da051ccde15'],
  'campaigns pause': ['campaigns pause 01a205d1deb61da051ccde15'],
  'campaigns resume': ['campaigns resume 01a205d1deb61da051ccde15'],
  'campaigns watch': ['campaigns watch 01a205d1deb61da051ccde15'],
  'campaigns stop': ['campaigns stop 01a205d1deb61da051ccde15'],
  'campaigns winner': [
    'campaigns winner 01a205d1deb61da051ccde15',
    'campaigns winner 01a205d1deb61da051ccde15 --variation variation_2',
    'campaigns winner 01a205d1deb61da051ccde15 --metric CLICKS',
  ],
  'accounts list': ['accounts list', 'accounts list --json'],
  'accounts first-owner-link': ['accounts first-owner-link'],
  'accounts reset-second-factor': ['accounts reset-second-factor ada@example.com'],
  'accounts password-link': ['accounts password-link ada@example.com'],
  mcp: ['mcp', 'mcp --url https://push.example.com'],
  'agent-tokens create': [
    'agent-tokens create --account ada@example.com --name "Claude on my laptop"',
    'agent-tokens create --account ada@example.com --days 30 --may-propose --json',
  ],
  'agent-tokens list': ['agent-tokens list', 'agent-tokens list --json'],
  'agent-tokens revoke': ['agent-tokens revoke 01a205d1deb61da051ccde15'],
  explain: [
    'explain --campaign 01a205d1deb61da051ccde15 --user ada',
    'explain --campaign 01a205d1deb61da051ccde15 --user ada --json',
  ],
  'devices suspected': ['devices suspected', 'devices suspected --json'],
  'devices keep': ['devices keep 01a205d1deb61da051ccde15'],
  'erasures list': ['erasures list', 'erasures list --customer ada'],
  'erasures cancel': ['erasures cancel ada', 'erasures cancel ada --json'],
  'workspaces create': ['workspaces create --name "Our shop" --time-zone Europe/Berlin'],
  'workspaces set': ['workspaces set PSH3QXH8QXL2VWURYCY9L4YR --time-zone Europe/Berlin'],
  'workspaces show': ['workspaces show PSH3QXH8QXL2VWURYCY9L4YR'],
  'workspaces list': ['workspaces list', 'workspaces list --json'],
  'apps list': ['apps list', 'apps list --json'],
  'apps add': [
    'apps add courier --platform android --identifier com.example.courier',
    'apps add courier --platform ios --identifier com.example.courier --environment sandbox',
  ],
  'apps change': ['apps change courier --platform ios --name Riders'],
  'apps remove': ['apps remove courier --platform ios'],
  'topics list': ['topics list', 'topics list --json'],
  'topics add': ['topics add offers --name "Offers and sales" --default out'],
  'topics change': ['topics change offers --name Offers --position 2'],
  'topics remove': ['topics remove offers'],
  'topics user': ['topics user ada', 'topics user ada --join offers --leave news'],
  ...Object.fromEntries(
    providerNames.map((name) => {
      const command = `credentials set ${name}`;
      return [command, providers[name].key.examples.map((options) => `${command} ${options}`)];
    }),
  ),
  'credentials list': ['credentials list', 'credentials list --json'],
  'credentials check': ['credentials check'],
  'credentials remove': ['credentials remove apns', 'credentials remove fcm --while-sending'],
  'tokens status': ['tokens status', 'tokens status --json'],
  'tokens rotate-secret': ['tokens rotate-secret'],
  'tokens retire-secret': ['tokens retire-secret 3'],
  'tokens end-all': ['tokens end-all'],
  'master-key status': ['master-key status'],
  'master-key rotate': ['master-key rotate'],
  'sandbox reset': ['sandbox reset'],
  'sandbox clock': [
    'sandbox clock',
    'sandbox clock --advance 30d',
    'sandbox clock --until-idle',
    'sandbox clock --reset',
  ],
  'sandbox faults': [
    `sandbox faults --set '{"fcm":{"status":503,"count":1}}'`,
    `sandbox faults --set '{"api":{"route":"POST /v1/oauth/token","status":500,"nth":2}}'`,
    'sandbox faults --clear',
  ],
  'sandbox refusals': ['sandbox refusals', 'sandbox refusals --json'],
  'sandbox generate-users': ['sandbox generate-users --users 100000 --out users.csv'],
  migrate: ['migrate'],
  'database distribute': ['database distribute'],
  'database status': ['database status'],
  'config print': ['config print'],
};

/** Adds the examples to the help of every command. */
export function addExamples(program: Command): void {
  for (const { path, command } of leavesOf(program)) {
    const lines = (examples[path] ?? []).map((line) => `  carillon ${line}\n`);
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('')}`.trimEnd());
  }
}

/** Returns the executable commands, each with its path of words. */
export function leavesOf(command: Command, words: string[] = []): { path: string; command: Command }[] {
  const own = { path: words.join(' '), command };
  if (command.commands.length === 0) return [own];
  const below = command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
  // `import` accepts a file and also has a subcommand; `backup` accepts options.
  const doesSomething = words.length > 0 && command.registeredArguments.length + command.options.length > 0;
  return doesSomething ? [own, ...below] : below;
}

export function examplesOf(path: string): readonly string[] {
  return examples[path] ?? [];
}
