import type Libsql from 'libsql';
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';

/**
 * A Kysely dialect over one `libsql` connection. Kysely's own SQLite dialect begins transactions as readers, and SQLite refuses at
 * once, without waiting, to upgrade one of two readers to a writer. Several processes share a store (ME-10), so each
 * transaction takes the write lock when it begins, and waits for it.
 */
export function libsqlDialect(database: Libsql.Database): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driverOf(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function driverOf(database: Libsql.Database): Driver {
  const connection = connectionOf(database);
  const run = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql));
  // There is one connection, so callers take turns: each waits for the previous one.
  let last: Promise<void> = Promise.resolve();
  let release = () => {};
  return {
    init: async () => {},
    acquireConnection: async () => {
      const before = last;
      let done = () => {};
      last = new Promise((resolve) => (done = resolve));
      await before;
      release = done;
      return connection;
    },
    releaseConnection: async () => release(),
    beginTransaction: async () => void (await run('begin immediate')),
    commitTransaction: async () => void (await run('commit')),
    rollbackTransaction: async () => void (await run('rollback')),
    destroy: async () => void database.close(),
  };
}

function connectionOf(database: Libsql.Database): DatabaseConnection {
  return {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = database.prepare(sql);
      if (statement.reader) return { rows: statement.all(parameters) as R[] };
      const { changes } = statement.run(parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    // oxlint-disable-next-line require-yield -- the store does not stream
    streamQuery: async function* () {
      throw new Error('the store does not stream');
    },
  };
}
