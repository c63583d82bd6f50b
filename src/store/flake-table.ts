import { sql } from 'kysely';
import { knownFlakeShape, type KnownFlake, type Store } from './store.js';
import { checkedRow, type StoreContext, storedText } from './tables.js';

/** The part of the store that counts the red and green runs of flaky tests. */
export function flakeTable({ db, project, now }: StoreContext): Pick<Store, 'flakeSeen' | 'flakes'> {
  return {
    flakeSeen: async ({ testId, name, kind, red, green }) => {
      const lastSeen = now();
      await db
        .insertInto('flakes')
        .values({ project, testId, name: storedText(name), kind, red, green, lastSeen })
        .onConflict((conflict) =>
          conflict.columns(['project', 'testId']).doUpdateSet({
            name: storedText(name),
            kind: sql`coalesce(excluded.kind, flakes.kind)`,
            red: sql`flakes.red + excluded.red`,
            green: sql`flakes.green + excluded.green`,
            lastSeen,
          }),
        )
        .execute();
    },
    flakes: async () => {
      const rows = await db.selectFrom('flakes').selectAll().where('project', '=', project).execute();
      const rate = ({ red, green }: KnownFlake) => red / (red + green);
      return rows
        .map((row) => checkedRow(knownFlakeShape, row))
        .toSorted((a, b) => rate(b) - rate(a) || b.red - a.red);
    },
  };
}
