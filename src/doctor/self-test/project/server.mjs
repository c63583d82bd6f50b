// The app of the self-test: its pages, and one API route implemented in app/total.mjs.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { greeting } from './app/greeting.mjs';
import { totalOf } from './app/total.mjs';
import { isWarm } from './app/warm.mjs';

const order = [{ price: { amount: 3 } }, { price: { amount: 4 } }];

/** Each route returns a page or, under /api, data. */
const routes = {
  '/': () => page('index.html'),
  '/order': () => page('order.html'),
  '/total': () => page('total.html'),
  '/stock': () => page('stock.html'),
  '/opening': () => page('opening.html'),
  '/delivery': () => page('delivery.html'),
  '/greeting': (query) => `<h1>${greeting(query.get('name'))}</h1>`,
  '/warm': () => (isWarm() ? '<p>ready</p>' : '<p>warming up</p>'),
  '/api/total': () => JSON.stringify({ total: totalOf(order) }),
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  const route = routes[pathname];
  try {
    const body = route?.(searchParams);
    if (body === undefined) {
      response.writeHead(404).end('not found');
      return;
    }
    const type = pathname.startsWith('/api/') ? 'application/json' : 'text/html; charset=utf-8';
    response.writeHead(200, { 'content-type': type }).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end('Internal Server Error');
  }
});
server.listen(Number(process.argv[2]), '127.0.0.1');

function page(name) {
  return readFileSync(path.join(import.meta.dirname, 'app', name), 'utf8');
}
