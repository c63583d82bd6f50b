import json

from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from .models import Product


@require_POST
def add_to_cart(request):
    wanted = json.loads(request.body)
    product = get_object_or_404(Product, slug=wanted['slug'])
    cart = request.session.get('cart', {})
    quantity = cart.get(product.slug, 0) + int(wanted.get('quantity', 1))
    if quantity > product.stock:
        return JsonResponse({'error': f'Only {product.stock} in stock'}, status=409)
    request.session['cart'] = {**cart, product.slug: quantity}
    return JsonResponse({'count': sum(request.session['cart'].values())}, status=201)


@csrf_exempt
@require_http_methods(['GET', 'POST'])
def stock(request, slug):
    product = get_object_or_404(Product, slug=slug)
    if request.method == 'GET':
        return JsonResponse({'slug': product.slug, 'stock': product.stock})
    delivered = json.loads(request.body)
    product.stock += int(delivered['quantity'])
    product.save()
    return JsonResponse({'slug': product.slug, 'stock': product.stock}, status=201)
