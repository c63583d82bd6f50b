import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/fixer/proposal.js';
import { renamedName, type RenamedNameEvidence } from '../../../src/fixer/renamed-name.js';

const hunk = (before: string, after: string) => ({
  file: 'x',
  old: [before].filter(Boolean),
  now: [after],
});
const source = (text: string, file = '/p/src/orders.ts') => ({ file, text });

type Given = Partial<RenamedNameEvidence> & { readonly app?: readonly SourceText[] };

function evidence({ app = [], ...over }: Given): RenamedNameEvidence {
  return {
    said: '',
    notFound: [],
    line: null,
    thrower: null,
    sources: async () => ({ app, tests: [] }),
    hunksAbout: async () => [],
    ...over,
  };
}

const column = 'error: column "price_cents" does not exist';
const query = source("db.query('SELECT id, price_cents FROM products').map((row) => row.price_cents)");

describe('BF-4 the failing side follows a renaming', () => {
  it.each([
    ['column in a migration', hunk('', 'ALTER TABLE products RENAME COLUMN price_cents TO amount_cents;')],
    ['column in the schema', hunk('  price_cents integer,', '  amount_cents integer,')],
    ['column in a migration of knex', hunk('', "t.renameColumn('price_cents', 'amount_cents');")],
  ])('BF-4 of a %s', async (_, change) => {
    const proposal = await renamedName(
      evidence({ said: column, app: [query], hunksAbout: async () => [change] }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual([
      query.text.replaceAll('price_cents', 'amount_cents'),
    ]);
  });

  it('BF-4 of a route, in paths below it and no others', async () => {
    const client = source("fetch(`/api/orders/${id}`); const a = '/api/orders-archive';");
    const proposal = await renamedName(
      evidence({
        notFound: ['/api/orders/7'],
        app: [client],
        hunksAbout: async (name) =>
          name === '/api/orders' ? [hunk("get('/api/orders/:id')", "get('/api/purchases/:id')")] : [],
      }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual([
      "fetch(`/api/purchases/${id}`); const a = '/api/orders-archive';",
    ]);
  });

  it('BF-4 of a route that a log names with its status, ignoring a frame in line 404', async () => {
    const server = source("fetch('http://rates:80/internal/rates')");
    const proposal = await renamedName(
      evidence({
        said: 'Error: http://rates:80/internal/rates answered 404\n  at http://localhost/app.js:404:5',
        app: [server],
        hunksAbout: async (name) =>
          name === '/internal/rates' ? [hunk("get('/internal/rates')", "get('/internal/euro')")] : [],
      }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual(["fetch('http://rates:80/internal/euro')"]);
  });

  it.each([
    ["document.getElementById('total').textContent = sum;", 'total'],
    ['document.querySelector(".row #total").remove();', 'total'],
  ])('BF-4 of an element that a script looks for: %s', async (line, name) => {
    const thrower = source(`// total\n${line}`);
    const proposal = await renamedName(
      evidence({
        said: "TypeError: Cannot set properties of null (setting 'textContent')",
        line,
        thrower: thrower.file,
        app: [thrower, source("byId('total')", '/p/src/other.ts')],
        hunksAbout: async (one) =>
          one === name ? [hunk('<b id="total"></b>', '<b id="order-sum"></b>')] : [],
      }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual([
      `// total\n${line.replace('total', 'order-sum')}`,
    ]);
  });

  it('BF-4 of a property that is undefined', async () => {
    const page = source('show(order.delivery.id);');
    const proposal = await renamedName(
      evidence({
        said: "TypeError: Cannot read properties of undefined (reading 'id')",
        line: page.text,
        thrower: page.file,
        app: [page],
        hunksAbout: async () =>
          [hunk('  delivery: row.delivery,', '  shipment: row.delivery_id,')].map((one) => ({
            ...one,
            old: ['  delivery: parcel,'],
            now: ['  shipment: parcel,'],
          })),
      }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual(['show(order.shipment.id);']);
  });

  it.each<[string, Given]>([
    ['no change shows the new name', { said: column, app: [query] }],
    [
      'the change only removed the name',
      {
        said: column,
        app: [query],
        hunksAbout: async () =>
          [hunk('price_cents integer,', 'stock integer,')].map((one) => ({ ...one, now: [] })),
      },
    ],
    [
      'the name is a plain word that something else has, too',
      {
        said: 'no such column: name',
        app: [source("q('SELECT name FROM t'); x.name")],
        hunksAbout: async () => [hunk('name text', 'title text')],
      },
    ],
    [
      'two migrations disagree',
      {
        said: column,
        app: [query],
        hunksAbout: async () => [
          hunk('', 'RENAME COLUMN price_cents TO a'),
          hunk('', 'RENAME COLUMN price_cents TO b'),
        ],
      },
    ],
  ])('BF-4 proposes nothing if %s', async (_, over) => {
    expect(await renamedName(evidence(over))).toBeNull();
  });
});
