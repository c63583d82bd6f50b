import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFailureRecords } from '../../run/failure-record.js';
import { afterName, screenshotTypes } from '../../inspect/screenshot-types.js';
import type { Report, ReportCause } from '../../run/report.js';
import type { LoadedCause, LoadedRun } from './loaded-run.js';
import { readRunState } from '../../run/read-events.js';
import { timelineOf } from './show-timeline.js';

/** Base64 of pictures that one page carries, in bytes; the others are named by their path. */
const PICTURE_BYTES = 16 * 1024 * 1024;
/** A longer patch is cut: nobody reads it in a report. */
const PATCH_BYTES = 200 * 1024;

/** A picture of a run's folder. */
export interface Picture {
  /** The failure that it belongs to. */
  readonly n: number;
  readonly name: string;
}

/** How a page comes by a picture; null where it cannot have it. */
export type AddressOf = (picture: Picture) => Promise<string | null>;

/** Where a run lies. */
export interface RunPlace {
  readonly dir: string;
  /** The same as a person types it. */
  readonly shown: string;
}

/** Reads what the page of a run shows; what is missing is left out, since a report must not fail for it. */
export async function loadRun(
  report: Report,
  { dir, shown }: RunPlace,
  addressOf: AddressOf = embedded(dir),
): Promise<LoadedRun> {
  const leads = new Set(report.causes.map(({ evidence }) => Number(path.posix.basename(evidence))));
  const { failures } = await readFailureRecords(dir, leads);
  const causes = new Map<string, LoadedCause>();
  for (const cause of report.causes) {
    const lead = failures.find(({ n }) => cause.evidence === `failures/${n}`) ?? null;
    const name = path.basename((lead?.evidence.screenshot ?? '').replaceAll('\\', '/'));
    const before = lead && name !== '' ? await addressOf({ n: lead.n, name }) : null;
    const shows = lead && before !== null && cause.verdict === 'healed';
    const after = shows ? await addressOf({ n: lead.n, name: afterName }) : null;
    causes.set(cause.id, { lead, before, after, patches: await patchesOf(dir, cause) });
  }
  const tests = new Map(report.tests.map((test) => [test.id, test]));
  return { report, folder: shown, timeline: timelineOf(await readRunState(dir)), causes, tests };
}

async function patchesOf(dir: string, { attempts }: ReportCause): Promise<Map<string, string>> {
  const patches = new Map<string, string>();
  for (const { patch } of attempts) {
    if (patch === null || !/^attempts\/\d+\.patch$/.test(patch)) continue;
    const text = await readFile(path.join(dir, patch), 'utf8').catch(() => null);
    if (text !== null) patches.set(patch, text.slice(0, PATCH_BYTES));
  }
  return patches;
}

/** Pictures as part of the page, as long as there is room. */
function embedded(dir: string): AddressOf {
  let room = PICTURE_BYTES;
  return async ({ n, name }) => {
    const type = Object.hasOwn(screenshotTypes, name) ? screenshotTypes[name] : undefined;
    if (!type) return null;
    const place = path.join('failures', String(n), name);
    try {
      // A link that somebody, an agent say, put in its place leads out of the folder.
      if ((await realpath(path.join(dir, place))) !== path.join(await realpath(dir), place)) return null;
      if ((await stat(path.join(dir, place))).size * 1.4 > room) return null;
      const picture = `data:${type};base64,${await readFile(path.join(dir, place), 'base64')}`;
      room -= picture.length;
      return picture;
    } catch {
      return null;
    }
  };
}
