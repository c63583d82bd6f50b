import { listEntries, readFirstBytes, withZip } from '../../src/playwright/zip.js';

/** Returns the files in a zip, by name. */
export async function readZip(zip: string): Promise<Record<string, Buffer>> {
  return withZip(zip, async (opened) => {
    const found: Record<string, Buffer> = {};
    for (const { name, entry } of await listEntries(opened, () => true))
      found[name] = await readFirstBytes(opened, entry, Infinity);
    return found;
  });
}
