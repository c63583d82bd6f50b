import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import type { FileEdit } from '../edit.js';
import { violationOf } from '../rules.js';

/** Settings of build tools that let errors pass, and comments that silence them. */
const forgiving: readonly RegExp[] = [
  /\b(?:ignoreBuildErrors|ignoreDuringBuilds|transpileOnly|skipTypeCheck|allowBuildErrors)\b['"]?\s*:\s*true\b/g,
  /(?:\/\/|\/\*|<!--)[\s*]*@ts-(?:nocheck|ignore|expect-error)\b/g,
];

/** A compiler that checks less hides an error instead of fixing it: in the app, and where the tests themselves do not compile. */
export function judgeCompiler({ request, ofApp, ofTests }: Change): Violation[] {
  return [...ofApp, ...(request.category === 'build-error' ? ofTests : [])].flatMap(silencedIn);
}

function silencedIn({ path: file, before, after }: FileEdit): Violation[] {
  const [old, now] = [before?.text ?? '', after?.text ?? ''];
  return forgiving.flatMap((pattern) => {
    const found = [...now.matchAll(pattern)];
    const last = found.at(-1);
    if (!last || found.length <= [...old.matchAll(pattern)].length) return [];
    const line = now.slice(0, last.index).split('\n').length;
    const detail = last[0].replace(/^[/*<!\s-]+/, '');
    return [violationOf('compiler-loosened', { file, line, after: last[0], detail })];
  });
}
