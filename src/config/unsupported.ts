/**
 * What agents.yaml will hold and this version does not do yet. To accept a key that did nothing would be a lie, so each
 * is a mistake with a text of its own. Whoever builds one removes it here and adds it to schema.ts.
 */
export const unsupportedKeys: ReadonlySet<string> = new Set([
  'store',
  'verify.repeat',
  'verify.flips',
  'verify.ring',
]);

/** The sentence for all of these. */
export const notSupported = 'is not supported by this version of self-heal';
