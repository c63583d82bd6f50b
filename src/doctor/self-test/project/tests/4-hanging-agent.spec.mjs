import { test } from 'playwright/test';

test('the shop is open', async ({ request }) => {
  const page = await request.get('/opening');
  // In words that agents.yaml knows, so that this failure goes to the agent that hangs.
  if (!(await page.text()).includes('>open<')) throw new Error('opening hours are unknown');
});
