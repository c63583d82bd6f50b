import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import { violationOf } from '../rules.js';

const code = /(?:\/index)?\.[cm]?[jt]sx?$/;

/** New modules that an import without an ending may find in the place of a module of the tests that is still there (HN-3). */
export function judgeShadows({ edits, old }: Change): Violation[] {
  const deleted = new Set(edits.filter((one) => !one.after).map((one) => one.path));
  const stems = new Map(
    [...old.parsed.keys()].filter((file) => !deleted.has(file)).map((file) => [stemOf(file), file]),
  );
  return edits
    .filter(({ path, before, after }) => !before && after && code.test(path))
    .flatMap(({ path }) => {
      const shadowed = stems.get(stemOf(path));
      if (shadowed === undefined || shadowed === path) return [];
      return [violationOf('module-shadowed', { file: path, after: path, detail: shadowed })];
    });
}

function stemOf(file: string): string {
  return file.replace(code, '');
}
