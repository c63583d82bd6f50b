import type { Mark } from '../../core/guard/outline.js';
import { printCode } from './print-code.js';
import { amountOf } from './read-assertion.js';
import { placeAt } from './place-at.js';
import { lookUp, type Scope } from './scope.js';
import { isFunction, nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode, visit } from './syntax.js';
import { chainOf, isTestObject, originOf, rootName } from './test-object.js';
import type { TestSources } from './test-sources.js';

type Found = readonly (readonly [family: string, text: string, amount?: number])[];
type Look = (node: SyntaxNode, scope: Scope, sources: TestSources) => Found;

/** Finds what must not be new in a test file, wherever it stands in it. */
export function readMarks(sources: TestSources, affected: ReadonlySet<string>): Mark[] {
  const marks: Mark[] = [];
  for (const { file, scope } of sources.files.values()) {
    if (!affected.has(file.path)) continue;
    visit(file.program, (node) => {
      for (const look of looks) {
        for (const [family, text, amount = null] of look(node, scope, sources)) {
          marks.push({ family, text, amount, ...placeAt(file, file.lineAt(node.start)) });
        }
      }
    });
  }
  return marks;
}

const modifier: Look = (node, scope, sources) => {
  const name = node.type === 'MemberExpression' ? propertyOf(node) : null;
  if (!name || !/^(?:skip|fixme|fail|only|slow)$/.test(name)) return [];
  const root = rootName(node);
  const isTest = root && (isTestObject(root, scope, sources) || isInfo(root) || name !== 'only');
  const isData =
    root && lookUp(String(root['name']), scope)?.kind === 'value' && !isTestObject(root, scope, sources);
  return isTest && !isData ? [['test-modifier', [...chainOf(node)].join('.')]] : [];
};

function isInfo(root: SyntaxNode): boolean {
  return /info$/i.test(String(root['name']));
}

/** Conditions of a skip that was there already may not become wider. */
const modifierCondition: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const name = callee && propertyOf(callee);
  if (!callee || !name || !/^(?:skip|fixme|fail|slow)$/.test(name)) return [];
  const [condition] = nodesIn(node, 'arguments');
  if (!condition || condition.type === 'Literal' || condition.type === 'TemplateLiteral') return [];
  return [['test-modifier', `${name}(${printCode(condition, scope, sources).text})`]];
};

const destructured: Look = (node) => {
  const key = node.type === 'Property' ? nameOf(nodeIn(node, 'key')) : null;
  const isPattern = nodeIn(node, 'value')?.type === 'Identifier' && node['shorthand'] === true;
  return key && isPattern && /^(?:skip|fixme|fail|only|slow)$/.test(key)
    ? [['test-modifier', `{ ${key} }`]]
    : [];
};

/** A tag decides which runs a test is part of. */
const tagged: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const root = callee && rootName(callee);
  const [, details] = nodesIn(node, 'arguments');
  if (!root || details?.type !== 'ObjectExpression' || !isTestObject(root, scope, sources)) return [];
  return nodesIn(details, 'properties').flatMap((one) => {
    const value = nameOf(nodeIn(one, 'key')) === 'tag' ? nodeIn(one, 'value') : null;
    return value ? [['run-option', `tag ${printCode(value, scope, sources).text}`] as const] : [];
  });
};

const limit: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const name = callee && propertyOf(callee);
  if (!callee || !name || !/^set(?:Timeout|DefaultTimeout|DefaultNavigationTimeout)$/.test(name)) return [];
  const [value] = nodesIn(node, 'arguments');
  return value ? [['timeout-raised', name, amountOf(printCode(value, scope, sources).text)]] : [];
};

/** `describe.configure({ retries })`, `test.use({ … })`, `expect.configure({ … })`, one mark an option. */
const configured: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const name = callee && propertyOf(callee);
  const [first] = nodesIn(node, 'arguments');
  const root = callee && rootName(callee);
  if (!callee || !first || !root || (name !== 'configure' && name !== 'use')) return [];
  if (name === 'use' && !isTestObject(root, scope, sources)) return [];
  const found = sources.resolve(first, scope);
  const family = /expect/i.test(String(root['name'])) ? 'expect-replaced' : 'run-option';
  if (found.node.type !== 'ObjectExpression')
    return [[family, `${name} ${printCode(first, scope, sources).text}`]];
  return nodesIn(found.node, 'properties')
    .map((one) => {
      const key = nameOf(nodeIn(one, 'key')) ?? '…';
      const value = nodeIn(one, 'value');
      const text = value ? printCode(value, found.scope, sources).text : '';
      if (/timeout/i.test(key)) return ['timeout-raised', `${name}.${key}`, amountOf(text)] as const;
      if (key === 'retries')
        return ['retries-raised', 'retries', Number(text) >= 0 ? Number(text) : Infinity] as const;
      return [family, `${name} ${key}: ${text}`] as const;
    })
    .filter(([, text]) => !/^use (?:testIdAttribute|trace|screenshot|video): /.test(text));
};

const families: readonly (readonly [RegExp, string])[] = [
  [/^(?:route|routeFromHAR|routeWebSocket|fulfill|unroute|unrouteAll)$/, 'mocked-route'],
  [
    /^(?:evaluate|evaluateAll|evaluateHandle|\$eval|\$\$eval|setContent|addInitScript|addScriptTag|addStyleTag|exposeFunction|exposeBinding|dispatchEvent|removeAllListeners|setOffline|addCookies|setExtraHTTPHeaders|addLocatorHandler)$/,
    'page-rewritten',
  ],
  [/^(?:setFixedTime|setSystemTime|fastForward|runFor|pauseAt)$/, 'page-rewritten'],
];

const dangerousCall: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const name = callee && propertyOf(callee);
  const object = callee?.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  // The page's own time: `install` alone says too little.
  const isClock = name === 'install' && (propertyOf(object ?? callee ?? node) ?? nameOf(object)) === 'clock';
  const family = isClock
    ? 'page-rewritten'
    : families.find(([pattern]) => name !== null && pattern.test(name))?.[1];
  if (!name || !family) return [];
  const args = nodesIn(node, 'arguments').map((one) => printCode(one, scope, sources).text);
  return [[family, `${name}(${args.join(', ')})`]];
};

/** The same methods taken by name, to be called elsewhere: `const rewrite = page.evaluate.bind(page)`. */
const borrowed: Look = (node) => {
  const object = node.type === 'MemberExpression' ? nodeIn(node, 'object') : null;
  const name = object && propertyOf(object);
  const family = name ? families.find(([pattern]) => pattern.test(name))?.[1] : undefined;
  return name && family && /^(?:call|apply|bind)$/.test(propertyOf(node) ?? '')
    ? [[family, `${name} borrowed`]]
    : [];
};

const processCall: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const object = callee?.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  if (!callee || nameOf(object) !== 'process') return [];
  const name = propertyOf(callee) ?? '?';
  if (!/^(?:exit|kill|abort|reallyExit|on|once|addListener)$/.test(name)) return [];
  return [
    [
      'process-ended',
      `${name}(${nodesIn(node, 'arguments')
        .map((one) => (isFunction(one) ? '' : printCode(one, scope, sources).text))
        .join(', ')})`,
    ],
  ];
};

const patchable =
  /^(?:expect|test|it|page|context|browser|request|globalThis|global|window|process|console|Date|Math|Promise|Array|Object|Locator|Page|module|require)$/;

/** What Playwright reports of a test, and whoever writes to it changes the report. */
const reported = /^(?:expectedStatus|status|errors|error)$/;

/** What Playwright gives to a test. */
const given = /^(?:expect|test|page|context|browser|request)$/;

const patched: Look = (node, scope) => {
  if (isEvaluated(node)) return [['patched', 'code from a text']];
  if (node.type === 'AssignmentExpression') {
    const left = nodeIn(node, 'left');
    if (left?.type === 'Identifier' && given.test(String(left['name']))) {
      return [['patched', `${String(left['name'])} is assigned`]];
    }
    const root = left?.type === 'MemberExpression' ? rootName(left) : null;
    if (!left || !root) return [];
    const chain = [String(root['name']), ...chainOf(left)];
    if (chain.join('.') === 'module.exports') return [];
    const isOthers =
      patchable.test(chain[0] ?? '') ||
      lookUp(chain[0] ?? '', scope)?.kind === 'import' ||
      chain.slice(1).some((one) => /^(?:prototype|__proto__)$/.test(one) || reported.test(one));
    return isOthers ? [['patched', chain.join('.')]] : [];
  }
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const text =
    callee?.type === 'MemberExpression'
      ? `${nameOf(nodeIn(callee, 'object')) ?? ''}.${propertyOf(callee) ?? ''}`
      : '';
  const [first] = nodesIn(node, 'arguments');
  if (
    !/^(?:Object\.(?:defineProperty|defineProperties|assign|setPrototypeOf)|Reflect\.(?:set|defineProperty))$/.test(
      text,
    ) ||
    !first
  )
    return [];
  return first.type === 'ObjectExpression' ? [] : [['patched', text]];
};

function isEvaluated(node: SyntaxNode): boolean {
  const name = nameOf(nodeIn(node, 'callee'));
  return (
    (node.type === 'CallExpression' && name === 'eval') ||
    (/^(?:New|Call)Expression$/.test(node.type) && name === 'Function')
  );
}

const mocking =
  /^(?:nock|msw|sinon|mockttp|fetch-mock|axios-mock-adapter|proxyquire|testdouble|rewire|mockery|intercept-stdout)(?:\/|$)/;

const mockingPackage: Look = (node) => {
  const isImport = node.type === 'ImportDeclaration' || node.type === 'ImportExpression';
  const source = isImport
    ? nodeIn(node, 'source')
    : node.type === 'CallExpression' && nameOf(nodeIn(node, 'callee')) === 'require'
      ? nodesIn(node, 'arguments')[0]
      : null;
  const name = nameOf(source ?? null);
  return name && mocking.test(name) ? [['mocked-route', name]] : [];
};

const replaced: Look = (node, scope, sources) => {
  if (node.type === 'CallExpression') {
    const callee = nodeIn(node, 'callee');
    const root = callee && rootName(callee);
    if (!callee || !root || propertyOf(callee) !== 'extend' || !/expect/i.test(String(root['name'])))
      return [];
    return [['expect-replaced', 'expect.extend']];
  }
  const local =
    node.type === 'ImportSpecifier'
      ? nodeIn(node, 'local')
      : node.type === 'VariableDeclarator' || /^(?:FunctionDeclaration|ClassDeclaration)$/.test(node.type)
        ? nodeIn(node, 'id')
        : null;
  const name = nameOf(local);
  if (!local || (name !== 'test' && name !== 'expect')) return [];
  const origin = originOf(local, { scope, sources, left: 10 });
  return origin === 'playwright' ? [] : [['expect-replaced', `${name} from ${origin}`]];
};

const builtIn = /^(?:page|context|browser|request|browserName|baseURL|storageState|playwright)$/;

const overridden: Look = (node, scope, sources) => {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const [first] = nodesIn(node, 'arguments');
  if (!callee || propertyOf(callee) !== 'extend' || !first) return [];
  const object = sources.resolve(first, scope).node;
  return nodesIn(object, 'properties').flatMap((one) => {
    const name = nameOf(nodeIn(one, 'key'));
    return name && builtIn.test(name) ? [['fixture-overridden', name] as const] : [];
  });
};

const looks: readonly Look[] = [
  modifier,
  modifierCondition,
  destructured,
  tagged,
  limit,
  configured,
  dangerousCall,
  borrowed,
  processCall,
  mockingPackage,
  patched,
  replaced,
  overridden,
];
