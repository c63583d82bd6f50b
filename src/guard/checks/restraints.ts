import type { Violation } from '../../core/guard/violation.js';
import { programsIn, template } from '../../code/scripts.js';
import {
  calleeOf,
  childrenOf,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  placeOf,
  propertyOf,
  type Place,
  type SourceFile,
  type SyntaxNode,
} from '../../code/syntax.js';
import { chainOf, rootName } from '../../code/test-object.js';
import type { Change } from '../change.js';
import { violationOf } from '../rules.js';

/** Something that refuses: a thrown error, a failure status, a validator, a guard of a route, a constraint of a table. */
interface Restraint extends Place {
  readonly text: string;
  /** -1 for what takes one away, as `DROP CONSTRAINT` does. */
  readonly weight: number;
}

/**
 * What an app refuses is counted over all files of a change, so that a check may move, or become another one: with fewer of them, what
 * failed is let pass (HN-3). Several that became one somewhere else are unified; a file that goes takes its own with it; what broke the
 * test may go.
 */
export function judgeRestraints({ ofApp }: Change): Violation[] {
  const states = ofApp.flatMap((edit) => {
    const texts = [edit.before?.text, edit.after?.text, edit.green ?? edit.before?.text];
    const [olds = [], news = [], greens = []] = texts.map((text) => restraintsIn(edit.path, text ?? ''));
    const broke = without(olds, greens);
    const gone = edit.after ? without(olds, news).filter((one) => !broke.includes(one)) : [];
    return [{ edit, gone, come: without(news, olds) }];
  });
  const balance = states.reduce((sum, { gone, come }) => sum + total(come) - total(gone), 0);
  if (balance >= 0) return [];
  return states.flatMap(({ edit: { path: file }, gone, come }) => {
    const elsewhere = states.flatMap((one) => (one.come === come ? [] : one.come.map(({ text }) => text)));
    const lost = gone.filter(({ text }) => !elsewhere.includes(text));
    if (total(lost) <= total(come)) return [];
    const [was, is] = [lost[0], come.find(({ weight }) => weight < 0)];
    const { text: detail, line } = is ?? was ?? { text: '', line: null };
    const lines = { before: was?.source ?? null, after: is?.source ?? null };
    return [violationOf('restraint-removed', { file, line, ...lines, detail })];
  });
}

const total = (found: readonly Restraint[]) => found.reduce((sum, { weight }) => sum + weight, 0);

/** Those that are not among the others: what stands in the same line is the same one. */
function without(some: readonly Restraint[], others: readonly Restraint[]): Restraint[] {
  const left = [...others];
  const isLeft = (isSame: (one: Restraint, other: Restraint) => boolean) => (one: Restraint) => {
    const at = left.findIndex((other) => isSame(one, other));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  };
  return some
    .filter(isLeft((one, other) => one.text === other.text && one.source === other.source))
    .filter(isLeft((one, other) => one.text === other.text));
}

type Pattern = readonly [file: RegExp, says: RegExp, weight: number];

/** What restrains in other languages than JavaScript. */
const patterns: readonly Pattern[] = [
  [/\.sql$/, /\bnot\s+null\b|\bunique\b|\bcheck\s*\(|\breferences\b|\bcreate\s+policy\b/gi, 1],
  [
    /\.sql$/,
    /\bdrop\s+(?:constraint|check|foreign\s+key|policy|trigger)\b|\bdisable\s+(?:row|trigger)\b/gi,
    -1,
  ],
  // It says `not null` itself.
  [/\.sql$/, /\bdrop\s+not\s+null\b/gi, -2],
  [/\.prisma$/, /@@?unique\b|^\s+\w+\s+[A-Z]\w*(?=\s|$)/gm, 1],
  [
    /\.(?:sql|[cm]?[jt]sx?)$/,
    /session_replication_role\s*=\s*'?replica|foreign_key(?:_check)?s\s*=\s*(?:0|off)\b/gi,
    -1,
  ],
  [
    /\.(?:sql|[cm]?[jt]sx?)$/,
    /session_replication_role\s*=\s*'?(?:origin|default)|foreign_key(?:_check)?s\s*=\s*(?:1|on)\b/gi,
    1,
  ],
  [template, /\s(?:required|pattern|(?:min|max)(?:length)?)(?=[\s=>/])/g, 1],
  [/\.(?:patch|diff)$/, /^\+(?!\+).*\b(?:throw|reject|raise)\b/gm, 1],
  [/\.(?:patch|diff)$/, /^-(?!-).*\b(?:throw|reject|raise)\b/gm, -1],
];

function restraintsIn(path: string, text: string): Restraint[] {
  const told = patterns.flatMap(([file, says, weight]) =>
    file.test(path) ? [...text.matchAll(says)].map((match) => toldBy(match, { path, text, weight })) : [],
  );
  return [...told, ...programsIn(path, text).flatMap((source) => refusalsIn(source.program, source))];
}

function toldBy(
  match: RegExpExecArray,
  { path: file, text, weight }: { path: string; text: string; weight: number },
) {
  const line = text.slice(0, match.index).split('\n').length + (/^\s*\n/.exec(match[0]) ? 1 : 0);
  const source = (text.split('\n')[line - 1] ?? '').trim().slice(0, 200);
  return { file, line, source, weight, text: match[0].trim().replaceAll(/\s+/g, ' ') };
}

/** Calls that refuse, and functions that are asked whether something is allowed. */
const guards =
  /^(?:reject|notFound|forbidden|unauthorized|invariant|helmet|jwtVerify|timingSafeEqual|createHmac|(?:un)?authorized|rateLimit\w*|(?:safeParse|parse)(?:Async)?|\w+Or(?:Throw|Fail|404)|(?:use|with)?(?:csrf|xsrf|cors|require|ensure|assert|verify|authenticate|authori[sz]e|validat\w*?|sanitize|guards?|protect)(?:[A-Z]\w*)?)$/i;
/** Links of a chain that describe what is valid: in schemas of zod, yup and joi, of express-validator, of tables. */
const constraints =
  /^(?:notNull|unique|references|int|min|max|email|url|uuid|regex|nonempty|positive|nonnegative|refine|superRefine|required|is(?:Float|Int|Email|URL|UUID|Length|In|ISO8601|Numeric|Alpha\w*|String|Number|Boolean|Date\w*|Enum)|matches|length|check)$/i;
/** What only reads, and refuses nobody. */
const builtIn = /^(?:Math|JSON|Date|Number|URL|path|console|Promise|z|dotenv|require|cookie)$/;
const attributes = /^(?:required|pattern|(?:min|max)(?:Length)?)$/;

/** Where a refusal is a decision, not what is always done: a `throw` that every request meets is the fault itself. */
const deciding = /^(?:If|Conditional|Logical|Switch)/;
const ofError = /^(?:e|err|error|failure)$/;
/** The failure statuses of an answer: outside of a handler of errors, 500 and more are the fault, no refusal. */
type Failing = 0 | 500 | 600;

/** Each refusal counts once, whatever it is made of. */
function refusalsIn(node: SyntaxNode, source: SourceFile, below: Failing = 0): Restraint[] {
  const handles =
    node.type === 'CatchClause' || nodesIn(node, 'params').some((one) => ofError.test(nameOf(one) ?? ''));
  const failing = handles ? 600 : below || (deciding.test(node.type) ? 500 : 0);
  const text = refusalOf(node, failing);
  const found = text === null ? [] : [{ ...placeOf(source, node), text, weight: 1 }];
  const isWhole = text !== null && !constraints.test(text);
  const inside = isWhole ? [] : childrenOf(node);
  return [...found, ...inside.flatMap((one) => refusalsIn(one, source, failing))];
}

function refusalOf(node: SyntaxNode, failing: Failing): string | null {
  if (node.type === 'ThrowStatement') return failing ? 'throw' : null;
  if (node.type === 'JSXAttribute') {
    const name = String(nodeIn(node, 'name')?.['name']);
    return attributes.test(name) ? name : null;
  }
  const callee = calleeOf(node) ?? (node.type === 'NewExpression' ? nodeIn(node, 'callee') : null);
  if (!callee) return null;
  const args = nodesIn(node, 'arguments');
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const isOwn =
    !builtIn.test(nameOf(rootName(callee)) ?? '') || (chainOf(callee).length > 1 && name !== 'parse');
  if (callee.type === 'MemberExpression' && constraints.test(name)) return isOwn ? name : null;
  const handed = [name, ...args.map((one) => nameOf(one) ?? '')].find((one) => guards.test(one));
  if (handed !== undefined && isOwn && name !== 'require') return handed;
  const isNext = name === 'next' && args.length > 0;
  return failing && (isNext || (isOwn && failsBy(node, name, failing))) ? name : null;
}

const answering =
  /^(?:json|send|sendStatus|status|code|text|html|body|end|writeHead|error|fail|Response|redirect|createError|HTTPException|set)$/;

/** An answer with a failure status, or one that sends somebody to log in. */
function failsBy(node: SyntaxNode, name: string, below: number): boolean {
  if (!answering.test(name)) return false;
  if (nodesIn(node, 'arguments').some((one) => ofError.test(nameOf(one) ?? ''))) return true;
  return nodesOf(node).some((one) => {
    const value = one.type === 'Literal' ? one['value'] : null;
    if (name === 'redirect') return typeof value === 'string' && /log-?in|sign-?in|auth|denied/i.test(value);
    return typeof value === 'number' && value >= 400 && value < below;
  });
}
