/**
 * Tables whose rows a backup leaves out, with the reason; docs/backup.md shows them. What is true only of the processes
 * and browsers of the instant it was made, or would open again what was closed since.
 */
export const leftOutTables: Readonly<Record<string, string>> = {
  schema_migrations: 'a restore applies the migrations itself',
  transaction_receipts: 'receipts of commits, for connections that are gone',
  nodes: 'nodes report themselves anew',
  access_tokens: 'clients fetch new ones: a token that was revoked since would be valid again',
  refresh_tokens: 'as access tokens',
  console_sessions: 'everybody signs in again: a session that was ended since would be open again',
  company_sign_ins: 'signing in with a company account takes seconds',
  account_links: 'links that work once: one that was used since would work again',
};
