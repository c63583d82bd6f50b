/** The pictures that a failure's folder may hold, with their media types. */
export const screenshotTypes: Readonly<Record<string, string>> = {
  'screenshot.png': 'image/png',
  'screenshot.jpg': 'image/jpeg',
  'screenshot.webp': 'image/webp',
};
