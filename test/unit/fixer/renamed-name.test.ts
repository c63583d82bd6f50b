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

describe('BF-4 the failing side follows a renamed', () => {
  it.each([
    [
      'column, as a migration says',
      hunk('', 'ALTER TABLE products RENAME COLUMN price_cents TO amount_cents;'),
    ],
    ['column, as the schema shows', hunk('  price_cents integer,', '  amount_cents integer,')],
    ['column, as knex says', hunk('', "t.renameColumn('price_cents', 'amount_cents');")],
  ])('BF-4 %s', async (_, change) => {
    const proposal = await renamedName(
      evidence({ said: column, app: [query], hunksAbout: async () => [change] }),
    );
    expect(proposal?.files.map(({ after }) => after)).toEqual([
      query.text.replaceAll('price_cents', 'amount_cents'),
    ]);
  });

  it('BF-4 route, below its path and nowhere else', async () => {
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

  it('BF-4 route that a log names with its answer, a stack of line 404 aside', async () => {
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
  ])('BF-4 element that a script looks for: %s', async (line, name) => {
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

  it('BF-4 property of what is undefined', async () => {
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
      'the change only took it away',
      {
        said: column,
        app: [query],
        hunksAbout: async () =>
          [hunk('price_cents integer,', 'stock integer,')].map((one) => ({ ...one, now: [] })),
      },
    ],
    [
      'a plain word is read of something else, too',
      {
        said: 'no such column: name',
        app: [source("q('SELECT name FROM t'); x.name")],
        hunksAbout: async () => [hunk('name text', 'title text')],
      },
    ],
    [
      'two migrations say different things',
      {
        said: column,
        app: [query],
        hunksAbout: async () => [
          hunk('', 'RENAME COLUMN price_cents TO a'),
          hunk('', 'RENAME COLUMN price_cents TO b'),
        ],
      },
    ],
  ])('BF-4 proposes nothing where %s', async (_, over) => {
    expect(await renamedName(evidence(over))).toBeNull();
  });
});
