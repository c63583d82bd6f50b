from decimal import Decimal

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from .models import Coupon, Line, Order, Product


def catalogue(request):
    query = request.GET.get('q', '')
    products = Product.objects.filter(name__icontains=query)
    category = request.GET.get('category')
    if category:
        products = products.filter(category=category)
    return render(request, 'store/catalogue.html', {'products': products, 'query': query})


def product(request, slug):
    found = get_object_or_404(Product, slug=slug)
    others = Product.objects.filter(category=found.category).exclude(pk=found.pk)
    return render(request, 'store/product.html', {'product': found, 'suggestion': others.first()})


def lines_of(request):
    """The lines of the cart, with their products."""
    cart = request.session.get('cart', {})
    products = Product.objects.filter(slug__in=cart)
    return [
        {'product': one, 'quantity': cart[one.slug], 'total': one.price * cart[one.slug]} for one in products
    ]


def cart(request):
    if request.method == 'POST':
        remaining = {**request.session.get('cart', {})}
        remaining.pop(request.POST['remove'], None)
        request.session['cart'] = remaining
        return redirect('cart')
    lines = lines_of(request)
    total = sum((line['total'] for line in lines), Decimal('0'))
    return render(request, 'store/cart.html', {'lines': lines, 'total': total})


@login_required
def checkout(request):
    lines = lines_of(request)
    if request.method != 'POST':
        return render(request, 'store/checkout.html', {'lines': lines})
    address = request.POST['address'].strip()
    code = request.POST.get('coupon', '').strip()
    coupon = Coupon.objects.filter(code=code).first()
    problem = None
    if not address:
        problem = 'Please tell us where to send it'
    elif code and coupon is None:
        problem = 'We do not know this coupon'
    if problem:
        return render(request, 'store/checkout.html', {'lines': lines, 'problem': problem})
    with transaction.atomic():
        placed = Order.objects.create(
            user=request.user,
            address=address,
            percent=coupon.percent if coupon else 0,
        )
        for line in lines:
            Line.objects.create(
                order=placed,
                product=line['product'],
                quantity=line['quantity'],
                price=line['product'].price,
            )
            line['product'].stock -= line['quantity']
            line['product'].save()
    request.session['cart'] = {}
    return redirect('order', number=placed.pk)


@login_required
def orders(request):
    history = [
        {'order': one, 'day': one.placed_at.date(), 'count': one.lines.count()}
        for one in request.user.orders.all()
    ]
    return render(request, 'store/orders.html', {'history': history})


@login_required
def order(request, number):
    found = get_object_or_404(Order, pk=number, user=request.user)
    return render(request, 'store/order.html', {'order': found})


@login_required
@require_POST
def cancel(request, number):
    found = get_object_or_404(Order, pk=number, user=request.user, status=Order.OPEN)
    with transaction.atomic():
        for line in found.lines.select_related('product'):
            line.product.stock += line.quantity
            line.product.save()
        found.status = Order.CANCELLED
        found.save()
    return redirect('order', number=number)


def sign_in(request):
    if request.method != 'POST':
        return render(request, 'store/login.html')
    name = request.POST['name']
    user = authenticate(request, username=name, password=request.POST['password'])
    if user is None:
        return render(request, 'store/login.html', {'problem': 'Name and password do not fit'})
    login(request, user)
    return redirect(request.GET.get('next') or 'catalogue')


def sign_out(request):
    logout(request)
    return redirect('catalogue')
