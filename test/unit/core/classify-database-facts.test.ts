import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { databaseFacts, noDatabaseFacts } from '../../../src/core/classify/database-facts.js';
import type { Facts } from '../../../src/core/diagnosis.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

type Named = Partial<Pick<Facts, 'sql' | 'sqlState' | 'table' | 'column' | 'constraint' | 'policy'>>;

/** Messages of databases and mappers, each with all facts that it contains. */
const messages: readonly (readonly [text: string, facts: Named])[] = [
  // PostgreSQL and its drivers
  ['relation "orders" does not exist', { table: 'orders' }],
  [
    '** (Postgrex.Error) ERROR 42P01 (undefined_table) relation "orders" does not exist',
    { sqlState: '42P01', table: 'orders' },
  ],
  ['ERROR:  42703: column orders.vat does not exist', { sqlState: '42703', table: 'orders', column: 'vat' }],
  ['column "vat" of relation "orders" does not exist', { table: 'orders', column: 'vat' }],
  [
    'null value in column "total" of relation "orders" violates not-null constraint',
    { table: 'orders', column: 'total' },
  ],
  [
    'duplicate key value violates unique constraint "orders_number_key"\ndetail: Key (number)=(7) already exists.',
    { column: 'number', constraint: 'orders_number_key' },
  ],
  [
    'insert or update on table "lines" violates foreign key constraint "lines_order_fkey"',
    { table: 'lines', constraint: 'lines_order_fkey' },
  ],
  [
    "  code: '23514',\n  table: 'orders',\n  column: 'total',\n  constraint: 'total_positive',\n  routine: 'ExecConstraints'",
    { sqlState: '23514', table: 'orders', column: 'total', constraint: 'total_positive' },
  ],
  ['SQLSTATE[42P01]: Undefined table', { sqlState: '42P01' }],
  ['SQL State  : 28P01', { sqlState: '28P01' }],
  ['permission denied for table orders', { table: 'orders' }],
  [
    'new row violates row-level security policy "own rows" for table "carts"',
    { table: 'carts', policy: 'own rows' },
  ],
  ['infinite recursion detected in policy for relation "orders"', { table: 'orders' }],
  // MySQL
  [
    "ER_DUP_ENTRY: Duplicate entry '7' for key 'orders.number'",
    { sqlState: 'ER_DUP_ENTRY', table: 'orders', constraint: 'orders.number' },
  ],
  [
    "code: 'ER_NO_SUCH_TABLE',\nsqlState: '42S02',\nTable 'shop.orders' doesn't exist",
    { sqlState: 'ER_NO_SUCH_TABLE', table: 'shop.orders' },
  ],
  [
    'Cannot add or update a child row: a foreign key constraint fails (`shop`.`lines`, CONSTRAINT `lines_ibfk_1` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`))',
    { table: 'lines', column: 'order_id', constraint: 'lines_ibfk_1' },
  ],
  ["Unknown column 'orders.vat' in 'field list'", { column: 'vat' }],
  ["Field 'total' doesn't have a default value", { column: 'total' }],
  // SQLite
  [
    "SqliteError: UNIQUE constraint failed: orders.number\n  code: 'SQLITE_CONSTRAINT_UNIQUE'",
    { sqlState: 'SQLITE_CONSTRAINT_UNIQUE', table: 'orders', column: 'number' },
  ],
  ['SQLITE_ERROR: no such table: orders', { sqlState: 'SQLITE_ERROR', table: 'orders' }],
  ['table orders has no column named vat', { table: 'orders', column: 'vat' }],
  // Prisma
  [
    'code: P2002\nUnique constraint failed on the fields: (`number`)',
    { sqlState: 'P2002', column: 'number' },
  ],
  ['Unique constraint failed on the constraint: `orders_number_key`', { constraint: 'orders_number_key' }],
  ['Foreign key constraint violated: `lines_order_fkey (index)`', { constraint: 'lines_order_fkey' }],
  ['The table `public.orders` does not exist in the current database.', { table: 'public.orders' }],
  ['The column `orders.vat` does not exist in the current database.', { table: 'orders', column: 'vat' }],
  ["code: 'P2003',\n  meta: { modelName: 'Line' }", { sqlState: 'P2003', table: 'Line' }],
  [
    'Raw query failed. Code: `42P01`. Message: `relation "orders" does not exist`, P2010',
    { sqlState: '42P01', table: 'orders' },
  ],
  // Supabase and PostgREST
  [
    '{"code":"PGRST204","message":"Could not find the \'vat\' column of \'orders\' in the schema cache"}',
    { sqlState: 'PGRST204', table: 'orders', column: 'vat' },
  ],
  [
    "PGRST205: Could not find the table 'public.orders' in the schema cache",
    { sqlState: 'PGRST205', table: 'orders' },
  ],
  ["Could not find a relationship between 'orders' and 'lines' in the schema cache", { table: 'orders' }],
  [
    String.raw`{\"code\":\"42501\",\"message\":\"new row violates row-level security policy for table \\\"orders\\\"\"}`,
    { sqlState: '42501', table: 'orders' },
  ],
  // MongoDB and Mongoose
  [
    'E11000 duplicate key error collection: shop.orders index: number_1 dup key: { number: 7 }',
    { sqlState: 'E11000', table: 'shop.orders', column: 'number', constraint: 'number_1' },
  ],
  [
    'Cast to ObjectId failed for value "x" (type string) at path "_id" for model "Order"',
    { table: 'Order', column: '_id' },
  ],
  [
    'ValidationError: Order validation failed: total: Path `total` is required.',
    { table: 'Order', column: 'total' },
  ],
  // SQL Server
  [
    "Violation of UNIQUE KEY constraint 'UQ_number'. Cannot insert duplicate key in object 'dbo.orders'.",
    { table: 'dbo.orders', constraint: 'UQ_number' },
  ],
  [
    "Cannot insert the value NULL into column 'total', table 'shop.dbo.orders'",
    { table: 'shop.dbo.orders', column: 'total' },
  ],
  // Statements
  [
    'Failed query: delete from "orders" where "id" = $1',
    { table: 'orders', sql: 'delete from "orders" where "id" = $1' },
  ],
  ["sql: 'SELECT `id` FROM `orders`',", { table: 'orders', sql: 'SELECT `id` FROM `orders`' }],
  ['[SQL: UPDATE orders SET total = ?]', { table: 'orders', sql: 'UPDATE orders SET total = ?' }],
];

describe('EV-5 database facts', () => {
  it.each(messages)('EV-5 reads from %j what it names, and nothing else', (text, facts) => {
    expect(databaseFacts(text)).toEqual({ ...noDatabaseFacts, ...facts });
  });

  const message =
    '{"code":"23505","message":"duplicate key value violates unique constraint \\"orders_number_key\\""}';
  it.each([
    ['the error', failing(message)],
    ['the console', failing(locatorTimeout, { console: [logged(message)] })],
    ['the body of a response', failing(locatorTimeout, { network: [request({ responseBody: message })] })],
    ['the output of the server', failing(locatorTimeout, { serverOutput: `[WebServer] ${message}` })],
  ])('EV-5 finds them in %s', (_, evidence) => {
    const { category, facts } = classify(evidence);
    expect(category).toBe('database-error');
    expect(facts).toMatchObject({ sqlState: '23505', constraint: 'orders_number_key' });
  });

  const missing = 'error: column "vat" of relation "orders" does not exist';
  it.each([
    ['about the same', `${missing}\n  code: '42703',`, '42703'],
    [
      'that followed from it',
      "error: terminating connection due to administrator command\n  code: '57P01',",
      null,
    ],
  ])('EV-5 adds what the server printed of an error %s', (_, serverOutput, sqlState) => {
    const { facts } = classify(failing(missing, { serverOutput, pageUrl: null }));
    expect(facts).toMatchObject({ sqlState, table: 'orders', column: 'vat' });
  });
});
