/** The page of a failure's test when it was green with the fix. */
export const afterName = 'after.png';

/** The pictures that a failure's folder may hold, with their media types. */
export const screenshotTypes: Readonly<Record<string, string>> = {
  [afterName]: 'image/png',
  'screenshot.png': 'image/png',
  'screenshot.jpg': 'image/jpeg',
  'screenshot.webp': 'image/webp',
};
