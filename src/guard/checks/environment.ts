import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import { violationOf } from '../rules.js';

/** Files that set what programs start with. */
const isEnvironment = /(?:^|\/)(?:\.env(?:\.[\w.-]+)?|\.npmrc|\.yarnrc(?:\.yml)?)$/;
/** What puts code into every program, or speaks to Playwright itself. */
const startup =
  /^(?:NODE_OPTIONS|NODE_PATH|node-options|script-shell|yarnPath|(?:PLAYWRIGHT|PWTEST|PW)_\w+)$/;
/** Words of a name that turn the app into another one than its users have. */
const pretence = /(?:^|_)(?:MOCKS?|MOCKED|FAKES?|STUBS?|MSW|E2E|PLAYWRIGHT|BYPASS)(?:_|$)/i;
const off = /^(?:|0|false|no|off|null)$/i;

/** Settings by which the tests would meet another Playwright, or an app that only pretends (HN-3). */
export function judgeEnvironment({ edits }: Change): Violation[] {
  return edits.flatMap(({ path: file, before, after }) => {
    if (!isEnvironment.test(file)) return [];
    const old = settingsIn(before?.text ?? '');
    return [...settingsIn(after?.text ?? '')].flatMap(([name, { value, line }]) => {
      const isPretence = startup.test(name) || (pretence.test(name) && !off.test(value));
      if (old.get(name)?.value === value || !isPretence) return [];
      return [violationOf('environment-changed', { file, line, after: name, detail: name })];
    });
  });
}

function settingsIn(text: string): Map<string, { value: string; line: number }> {
  const found = new Map<string, { value: string; line: number }>();
  text.split(/\r?\n/).forEach((line, index) => {
    const [, name, value = ''] = /^\s*(?:export\s+)?([\w-]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name) found.set(name, { value: value.replace(/^(['"])(.*)\1$/, '$2'), line: index + 1 });
  });
  return found;
}
