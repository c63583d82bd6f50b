const stock = document.querySelector('[data-testid=stock]');
if (stock) showStock(stock);

async function showStock(element) {
  const response = await fetch(`/api/stock/${element.dataset.slug}`);
  const { stock } = await response.json();
  element.textContent = stock > 0 ? `${stock} in stock` : 'Sold out';
}

document.querySelector('[data-add]')?.addEventListener('click', async ({ target }) => {
  const quantity = Number(document.querySelector('#quantity').value);
  const response = await fetch('/api/cart', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRFToken': target.dataset.csrf },
    body: JSON.stringify({ slug: target.dataset.add, quantity }),
  });
  const answer = await response.json();
  const status = document.querySelector('[role=status]');
  if (response.ok) document.querySelector('[data-testid=cart-count]').textContent = answer.count;
  status.textContent = response.ok ? 'Added' : answer.error;
});
