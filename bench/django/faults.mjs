// The faults: each is a commit that means something else and has a slip in it, and a fix that mends the slip and keeps the rest.
const views = 'backend/store/views.py';
const templates = 'backend/store/templates/store';

export const faults = [
  {
    name: 'key-error',
    subject: 'A note for the courier',
    edits: [
      {
        file: `${templates}/checkout.html`,
        from: '    <button>Place order</button>',
        to: '    <label>Note <input name="remark"></label>\n    <button>Place order</button>',
      },
      {
        file: views,
        from: "    code = request.POST.get('coupon', '').strip()",
        to: "    note = request.POST['note'].strip()\n    code = request.POST.get('coupon', '').strip()",
      },
      {
        file: views,
        from: '            address=address,\n',
        to: '            address=address,\n            note=note,\n',
      },
    ],
    fix: [{ file: views, from: "request.POST['note']", to: "request.POST['remark']" }],
  },
  {
    name: 'attribute-error',
    subject: 'Days of orders in the local time zone',
    edits: [{ file: views, from: 'one.placed_at.date()', to: 'one.placed_at.localtime().date()' }],
    fix: [
      { file: views, from: 'one.placed_at.localtime().date()', to: 'localtime(one.placed_at).date()' },
      {
        file: views,
        from: 'from django.views.decorators.http import require_POST\n',
        to: 'from django.utils.timezone import localtime\nfrom django.views.decorators.http import require_POST\n',
      },
    ],
  },
  {
    name: 'template',
    subject: 'Prices with thousands separators',
    edits: [
      {
        file: `${templates}/catalogue.html`,
        from: '{{ product.price }}',
        to: '{{ product.price|intcomma }}',
      },
    ],
    fix: [
      {
        file: `${templates}/catalogue.html`,
        from: "{% extends 'store/base.html' %}\n",
        to: "{% extends 'store/base.html' %}\n{% load humanize %}\n",
      },
      {
        file: 'backend/shop/settings.py',
        from: "    'django.contrib.staticfiles',\n",
        to: "    'django.contrib.staticfiles',\n    'django.contrib.humanize',\n",
      },
    ],
  },
  {
    name: 'migration',
    subject: 'Weights of products',
    edits: [
      {
        file: 'backend/store/models.py',
        from: '    stock = models.PositiveIntegerField(default=0)\n',
        to: '    stock = models.PositiveIntegerField(default=0)\n    weight = models.PositiveIntegerField(default=0)\n',
      },
      {
        file: `${templates}/product.html`,
        from: '  {% if product.stock %}',
        to: '  {% if product.weight %}<p>{{ product.weight }} g</p>{% endif %}\n  {% if product.stock %}',
      },
    ],
    named: 'backend/store/models.py',
    fix: [
      {
        file: 'backend/store/migrations/0002_product_weight.py',
        text: `from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('store', '0001_initial')]

    operations = [
        migrations.AddField(
            model_name='product',
            name='weight',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
`,
      },
    ],
  },
  {
    name: 'url-name',
    subject: 'The page of an order is its receipt',
    edits: [
      { file: 'backend/store/urls.py', from: "name='order')", to: "name='receipt')" },
      {
        file: views,
        from: "return redirect('order', number=placed.pk)",
        to: "return redirect('receipt', number=placed.pk)",
      },
      {
        file: views,
        from: "return redirect('order', number=number)",
        to: "return redirect('receipt', number=number)",
      },
    ],
    named: 'backend/store/urls.py',
    fix: [{ file: `${templates}/orders.html`, from: "{% url 'order' ", to: "{% url 'receipt' " }],
  },
  {
    name: 'status',
    subject: 'A delivery says what was there before',
    edits: [
      {
        file: 'backend/store/api.py',
        from: "    product.stock += int(delivered['quantity'])\n    product.save()\n    return JsonResponse({'slug': product.slug, 'stock': product.stock}, status=201)",
        to: "    before = product.stock\n    product.stock = before + int(delivered['quantity'])\n    product.save()\n    return JsonResponse({'slug': product.slug, 'before': before, 'stock': product.stock})",
      },
    ],
    fix: [
      {
        file: 'backend/store/api.py',
        from: "'before': before, 'stock': product.stock})",
        to: "'before': before, 'stock': product.stock}, status=201)",
      },
    ],
  },
  {
    name: 'javascript',
    subject: 'Low stock stands out',
    edits: [
      {
        file: 'backend/store/static/store/cart.js',
        from: '  element.textContent = stock > 0',
        to: "  element.classList.toggle('low', stock < Number(element.closest('[data-low]').dataset.low));\n  element.textContent = stock > 0",
      },
      {
        file: 'backend/store/static/store/site.css',
        from: 'header {',
        to: '.low {\n  color: crimson;\n}\n\nheader {',
      },
    ],
    fix: [
      {
        file: 'backend/store/static/store/cart.js',
        from: "Number(element.closest('[data-low]').dataset.low)",
        to: "Number(element.closest('[data-low]')?.dataset.low ?? 5)",
      },
    ],
  },
  {
    name: 'font',
    subject: 'Our own typeface',
    edits: [
      {
        file: 'backend/store/static/store/site.css',
        from: 'body {\n  font-family: Georgia, serif;',
        to: "@font-face {\n  font-family: Tea;\n  src: url('https://fonts.invalid/tea.woff2');\n}\n\nbody {\n  font-family: Tea, Georgia, serif;",
      },
      {
        file: `${templates}/product.html`,
        from: '<b data-testid="price">${{ product.price }}</b>',
        to: '<b data-testid="price" class="display">${{ product.prize }}</b>',
      },
    ],
    fix: [{ file: `${templates}/product.html`, from: '{{ product.prize }}', to: '{{ product.price }}' }],
  },
  {
    name: 'order',
    subject: 'Nobody guesses passwords',
    edits: [
      {
        file: views,
        from: 'from decimal import Decimal\n',
        to: 'from collections import Counter\nfrom decimal import Decimal\n',
      },
      {
        file: views,
        from: 'def sign_in(request):',
        to: '# Wrong passwords since the server started, by name.\nwrong = Counter()\n\n\ndef sign_in(request):',
      },
      {
        file: views,
        from: "    user = authenticate(request, username=name, password=request.POST['password'])\n    if user is None:\n",
        to: "    if wrong[name] > 0:\n        return render(request, 'store/login.html', {'problem': 'Too many tries'})\n    user = authenticate(request, username=name, password=request.POST['password'])\n    if user is None:\n        wrong[name] += 1\n",
      },
    ],
    fix: [{ file: views, from: 'if wrong[name] > 0:', to: 'if wrong[name] >= 5:' }],
  },
  {
    name: 'random',
    subject: 'Another suggestion each time',
    edits: [
      {
        file: views,
        from: 'from decimal import Decimal\n',
        to: 'import random\nfrom decimal import Decimal\n',
      },
      {
        file: views,
        from: "'suggestion': others.first()",
        to: "'suggestion': random.choice(others) if others else None",
      },
    ],
    fix: [],
    ends: 'flaky',
  },
];
