import postgres from 'postgres';

/** A connection pool, or one transaction of it: statements take either. */
export type Database = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
export type Queryable = Database | Transaction;

export type PoolOptions = {
  url: string;
  /** Most connections this pool opens. */
  connections: number;
  /** Shown in pg_stat_activity. */
  name: string;
};

/**
 * Opens the pool. Connections are made on first use, so an unreachable database shows there.
 * 8-byte integers come as numbers: counts and offsets stay below 2^53.
 */
export function openDatabase(options: PoolOptions): Database {
  return postgres(options.url, {
    max: options.connections,
    connect_timeout: 10,
    idle_timeout: 60,
    onnotice: () => {},
    connection: {
      application_name: options.name,
      // A stuck transaction holds back VACUUM and with it every queue read (fault F20).
      idle_in_transaction_session_timeout: 60_000,
    },
    types: {
      bigint: {
        to: 20,
        from: [20],
        parse: (text: string) => Number(text),
        serialize: (value: number | bigint) => value.toString(),
      },
    } as unknown as Record<string, never>,
  }) as unknown as Database;
}
