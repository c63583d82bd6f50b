from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from store.models import Coupon, Order, Product

PRODUCTS = [
    ('Green tea', 'green-tea', 'tea', '6.50', 40),
    ('Black tea', 'black-tea', 'tea', '5.00', 40),
    ('Teapot', 'teapot', 'pots', '24.00', 12),
    ('Milk jug', 'milk-jug', 'pots', '9.90', 8),
    ('Sugar bowl', 'sugar-bowl', 'pots', '11.20', 8),
    ('Honey', 'honey', 'sweets', '7.80', 0),
    ('Candy', 'candy', 'sweets', '2.40', 25),
]


class Command(BaseCommand):
    help = 'Empties the shop, and fills it with products, coupons and two customers.'

    def handle(self, *args, **options):
        Order.objects.all().delete()
        Product.objects.all().delete()
        Coupon.objects.all().delete()
        for name, slug, category, price, stock in PRODUCTS:
            Product.objects.create(name=name, slug=slug, category=category, price=price, stock=stock)
        Coupon.objects.create(code='SPRING', percent=10)
        users = get_user_model().objects
        users.all().delete()
        for name in ('ann', 'bo'):
            users.create_user(name, password='sesame')
