import { CompiledQuery, SqliteDialect, type DatabaseConnection, type Driver } from 'kysely';

/**
 * A Kysely dialect over one `libsql` connection. Kysely's own SQLite dialect begins transactions as readers, and SQLite refuses at
 * once, without waiting, to upgrade one of two readers to a writer. Several processes share a store (ME-10), so each
 * transaction takes the write lock when it begins, and waits for it.
 */
export class LibsqlDialect extends SqliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection: DatabaseConnection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    };
    return driver;
  }
}
